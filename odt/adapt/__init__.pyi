from . import fisher as fisher
from . import lite as lite
from . import update as update
from .tinytrain import task_adaptive as task_adaptive
