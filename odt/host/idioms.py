"""What to write instead of what odt does not have: the texts of errors, by Keras's names.

Loaded when there is such an error.

A board's error names what is missing and no more. docs/reference/keras.md is made from this
(tests_host/docs/test_docs.py), Keras's own names are checked by tests_host/model/test_keras_names.py.
"""

import difflib

_SEQUENCES = (
    "odt.GRU, odt.LSTM and odt.SimpleRNN; Conv1D over a window of samples does what most LSTMs of sensors do, and "
    "odt.online.EchoState learns sequences on a board (docs/howto/online.md)"
)
_ATTENTION = "odt.MultiHeadAttention, with num_heads=1 for one"
_3D = "odt has 1 and 2 axes: put the third axis into the channels, odt.Conv2D and odt.Reshape"
_PAD = 'padding="same" of the layer that follows; odt.Conv1D has "causal", too'
_MAXPOOL = "odt.MaxPool2D(size) with the whole size of the image, then odt.Flatten(), or odt.GlobalAvgPool()"
_AUGMENT = "change the samples before fit, in a generator of batches"
_TEXT = "turn text and categories into numbers before fit"
_NOISE = "odt.Dropout(rate), or add noise to the samples in a generator of batches"
_BACKEND = (
    "frameworks' layers do not train on a board: odt.host.convert imports Keras, PyTorch, ONNX and TFLite files "
    "(docs/howto/import.md)"
)
_OWN = "a custom layer: docs/howto/add_a_layer.md"
_ELEMENT = "odt.Add, odt.Multiply and odt.Concatenate join branches"
_ACTIVATION = 'a name: activation="relu", "relu6", "leaky_relu", "elu", "selu", "gelu", "sigmoid", "tanh" or "softmax"'
_OBJECT = "names and objects of odt are given as they are, there is nothing to look up or to serialise"

# By place, what to write for which names.
MISSING = {
    "odt": {
        "odt.Sequential, odt.Model and odt.load_model": "models",
        "odt's layers are odt.Dense and so on": "keras",
        _ACTIVATION: "activations",
        'labels are integers, with the loss "sparse_categorical_crossentropy"; numpy.eye(classes)[y] makes one-hot '
        'labels; '
        "compile(seed=..) sets the seed; model.draw() and model.summary() show a model": "utils",
        "leave it out: odt has no penalties; odt.AdamW(weight_decay=..) keeps weights small, odt.Dropout regularises":
            "regularizers constraints",
        "leave it out: kernels begin as Glorot uniform, biases as 0; set_weights() sets others":
            "initializers Initializer",
        "odt computes by its own kernels; a dtype is compile(dtype=..)":
            "backend config dtype_policies mixed_precision DTypePolicy FloatDTypePolicy "
        "Variable KerasTensor Operation Function StatelessScope SymbolicScope RematScope remat name_scope "
        "distribution device ops random tree quantizers Quantizer",
        "numpy or files hold the data; odt.data reads files in batches": "datasets preprocessing",
        "odt.host.convert imports networks (docs/howto/import.md); examples/ has small ones": "applications",
        "model.export(path) writes a model file, model.save(path) a checkpoint": "export saving legacy",
        "odt.layers, odt.losses, odt.optimizers and odt.metrics have the classes":
            "Layer Loss Metric Optimizer InputSpec src version wrappers",
        "odt.AdamW(weight_decay=..)": "Regularizer",
        "train a small network on the large one's outputs, as targets of odt.MeanSquaredError": "distillation",
        "model.draw() and odt.inspect show a model": "visualization",
    },
    "layers": {
        _SEQUENCES: "RNN LSTMCell GRUCell SimpleRNNCell StackedRNNCells Bidirectional ConvLSTM1D "
        "ConvLSTM2D ConvLSTM3D TimeDistributed Masking",
        _ATTENTION: "Attention AdditiveAttention GroupQueryAttention",
        _3D: "Conv3D Conv3DTranspose Convolution3D Convolution3DTranspose AveragePooling3D AvgPool3D MaxPool3D "
        "MaxPooling3D GlobalAveragePooling3D GlobalAvgPool3D GlobalMaxPool3D GlobalMaxPooling3D "
        "AdaptiveAveragePooling3D AdaptiveMaxPooling3D Cropping3D UpSampling3D ZeroPadding3D SpatialDropout3D",
        _PAD: "ZeroPadding1D ZeroPadding2D",
        _MAXPOOL: "GlobalMaxPool1D GlobalMaxPool2D GlobalMaxPooling1D GlobalMaxPooling2D AdaptiveMaxPooling1D "
        "AdaptiveMaxPooling2D",
        "odt.GlobalAvgPool()": "GlobalAvgPool1D GlobalAvgPool2D",
        "odt.AdaptiveAvgPool1D and odt.AdaptiveAvgPool2D": "AdaptiveAveragePooling1D AdaptiveAveragePooling2D",
        "odt.Conv1D": "Convolution1D", "odt.Conv2D": "Convolution2D", "odt.Conv1DTranspose": "Convolution1DTranspose",
        "odt.Conv2DTranspose": "Convolution2DTranspose",
        "odt.Conv1D(filters, size, groups=channels)": "DepthwiseConv1D",
        "odt.DepthwiseConv2D(kernel_size), then odt.Conv2D(filters, 1)": "SeparableConv2D SeparableConvolution2D",
        "odt.Conv1D(channels, size, groups=channels), then odt.Conv1D(filters, 1)":
            "SeparableConv1D SeparableConvolution1D",
        "odt.Dense": "EinsumDense",
        'odt.Input(shape, dtype="uint8", scale=1 / 255), which costs nothing': "Rescaling",
        "odt.Normalization after the Input, or odt.BatchNorm": "UnitNormalization RMSNormalization "
        "SpectralNormalization",
        "odt.ReLU, odt.LeakyReLU or odt.ELU": "PReLU",
        "leave it out": "Identity",
        _NOISE: "GaussianNoise GaussianDropout AlphaDropout SpatialDropout1D SpatialDropout2D ActivityRegularization",
        _AUGMENT: "AugMix AutoContrast CutMix MixUp RandAugment RandomBrightness RandomColorDegeneration "
        "RandomColorJitter RandomContrast RandomCrop RandomElasticTransform RandomErasing RandomFlip "
        "RandomGaussianBlur RandomGrayscale RandomHue RandomInvert RandomPerspective RandomPosterization "
        "RandomRotation RandomSaturation RandomSharpness RandomShear RandomTranslation RandomZoom Equalization "
        "Solarization ContrastLimitedAdaptiveHistogramEqualization MaxNumBoundingBoxes Pipeline CenterCrop Resizing "
        "Cropping1D Cropping2D",
        _TEXT: "ReversibleEmbedding CategoryEncoding Discretization HashedCrossing Hashing IntegerLookup "
        "StringLookup TextVectorization",
        "odt.sensors.LogMel": "MelSpectrogram STFTSpectrogram",
        "odt.Reshape keeps the order of the numbers: give the samples in the order that the next layer wants":
            "Permute RepeatVector",
        _ELEMENT: "Average Subtract Maximum Minimum Dot average subtract maximum minimum dot",
        "odt.Add()([a, b])": "add", "odt.Multiply()([a, b])": "multiply", "odt.Concatenate()([a, b])": "concatenate",
        "odt.Input(shape)": "InputSpec",
        _OWN: "Lambda Wrapper",
        _BACKEND: "FlaxLayer JaxLayer TFSMLayer TorchModuleWrapper",
        _OBJECT: "serialize deserialize",
    },
    "optimizers": {
        "odt.Adam, odt.AdamW, odt.RMSprop or odt.SGD": "Adadelta Adafactor Adagrad Adamax Ftrl Lamb Lion Muon Nadam "
        "ScheduleFreeAdamW Optimizer OptimizerMap MultiOptimizer",
        "leave it out: int8 keeps its own scales": "LossScaleOptimizer",
        "odt.StepDecay, odt.CosineDecay, odt.ExponentialDecay and odt.WarmUp": "schedules legacy",
        _OBJECT: "serialize deserialize get",
    },
    "callbacks": {
        "odt.callbacks.ModelCheckpoint(filepath, steps=..), and fit(.., initial_epoch=model.epoch) after load()":
            "BackupAndRestore OrbaxCheckpoint",
        "fit returns a history; a custom callback is any object with on_epoch_end(epoch, logs)":
            "CSVLogger LambdaCallback History RemoteMonitor",
        "python3 -m odt monitor draws losses while a script runs, on a board too": "TensorBoard",
        "leave it out: fit prints its progress (verbose=1)": "ProgbarLogger",
        "leave it out: fit raises ArithmeticError where a loss is not finite": "TerminateOnNaN",
        "callbacks is a list": "CallbackList",
        "ModelCheckpoint(save_best_only=True) keeps the best weights": "SwapEMAWeights",
    },
    "losses": {
        "odt.BinaryCrossentropy": "BinaryFocalCrossentropy binary_crossentropy binary_focal_crossentropy",
        "odt.CategoricalCrossentropy, with class_weight= for rare classes":
            "CategoricalFocalCrossentropy CategoricalGeneralizedCrossEntropy CategoricalHinge "
        "Hinge SquaredHinge KLDivergence Dice Tversky categorical_crossentropy categorical_focal_crossentropy "
        "categorical_generalized_cross_entropy categorical_hinge hinge squared_hinge kl_divergence dice tversky",
        "odt.SparseCategoricalCrossentropy": "sparse_categorical_crossentropy",
        "odt.MeanSquaredError, odt.MeanAbsoluteError or odt.Huber": "LogCosh MeanAbsolutePercentageError "
        "MeanSquaredLogarithmicError Poisson CosineSimilarity log_cosh mean_absolute_percentage_error "
        "mean_squared_logarithmic_error poisson cosine_similarity mean_squared_error mean_absolute_error huber",
        "odt has no such loss: odt.continual.prototypes and odt.continual.latents compare samples":
            "Circle circle CTC ctc",
        "a custom loss: docs/reference/modules.md": "Loss",
        _OBJECT: "serialize deserialize get",
    },
    "metrics": {
        'compile gives the accuracy of labels; odt.metrics.report(model, x, y) has precision, recall and F1; others: '
        "model.predict(x) and NumPy or scikit-learn": "AUC Accuracy BinaryAccuracy BinaryIoU CategoricalAccuracy "
        "ConcordanceCorrelation F1Score FBetaScore FalseNegatives FalsePositives IoU MeanIoU OneHotIoU OneHotMeanIoU "
        "PearsonCorrelation Precision PrecisionAtRecall R2Score Recall RecallAtPrecision SensitivityAtSpecificity "
        "SpecificityAtSensitivity SparseCategoricalAccuracy SparseTopKCategoricalAccuracy TopKCategoricalAccuracy "
        "TrueNegatives TruePositives binary_accuracy categorical_accuracy concordance_correlation pearson_correlation "
        "sparse_categorical_accuracy sparse_top_k_categorical_accuracy top_k_categorical_accuracy",
        "the loss is what history and evaluate give: compile(loss=..); others: model.predict(x) and NumPy":
            "BinaryCrossentropy CategoricalCrossentropy "
        "CategoricalHinge CosineSimilarity Hinge KLDivergence LogCoshError MeanAbsoluteError "
        "MeanAbsolutePercentageError MeanSquaredError MeanSquaredLogarithmicError Poisson RootMeanSquaredError "
        "SparseCategoricalCrossentropy SquaredHinge binary_crossentropy binary_focal_crossentropy "
        "categorical_crossentropy categorical_focal_crossentropy categorical_hinge hinge huber kl_divergence log_cosh "
        "mean_absolute_error mean_absolute_percentage_error mean_squared_error mean_squared_logarithmic_error poisson "
        "sparse_categorical_crossentropy squared_hinge",
        "a custom callback is any object with on_epoch_end(epoch, logs)": "Mean MeanMetricWrapper Metric Sum",
        _OBJECT: "serialize deserialize get",
    },
    "layers.activations": {
        _ACTIVATION: "celu elu exponential gelu glu hard_shrink hard_sigmoid hard_silu "
        "hard_swish hard_tanh leaky_relu linear log_sigmoid log_softmax mish relu relu6 selu sigmoid silu soft_shrink "
        "softmax softplus softsign sparse_plus sparse_sigmoid sparsemax squareplus swish tanh tanh_shrink threshold",
        _OBJECT: "serialize deserialize get",
    },
    "model": {
        "model.get_weights(), as float32 arrays, and model.set_weights(values)":
            "weights variables trainable_weights trainable_variables non_trainable_weights "
        "non_trainable_variables add_variable add_weight",
        "model.save(path) for a checkpoint, which model.load(path) reads; model.export(path) for a model file":
            "save_weights to_json get_config from_config "
        "get_compile_config compile_from_config get_build_config build_from_config get_state_tree set_state_tree "
        "save_own_variables load_own_variables",
        "odt.load_model(path) opens what model.export(path) wrote": "from_json",
        "begin with odt.Input, or with a layer that has input_shape=: it is built then":
            "build built build_from_config",
        "model.predict(x); a custom network is made of layers: odt.Model(input, output)":
            "call symbolic_call stateless_call compute_output_spec "
        "compute_output_shape compute_mask call_signature_parameters get_quantization_layer_structure quantized_build "
        "quantized_call rematerialized_call call_super_init apply",
        "the layers' outputs are those of odt.inspect; model.input_shape and model.output_shape":
            "input inputs output outputs input_dtype input_spec",
        "compile(loss=..) and compile(metrics=..); odt.metrics.report(model, x, y)":
            "compute_loss compute_metrics get_metrics_result losses metrics metrics_variables "
        "reset_metrics stateless_compute_loss add_loss add_metric activity_regularizer",
        "model.train_step(x, y), model.evaluate(x, y) and model.predict(x)":
            "test_step predict_step make_train_function make_test_function "
        "make_predict_function train_function test_function predict_function steps_per_execution run_eagerly "
        "jit_compile supports_jit",
        'compile(dtype="int8") or "float32"': "quantize quantization_mode quantization_config compute_dtype "
        "variable_dtype dtype_policy autocast",
        "model.session is None until compile()": "compiled",
        "leave it out: a model has layers' names alone": "name path",
        "odt trains while fit or train_step runs, and at no other time": "training supports_masking",
        "model.trainable": "torch_params",
        "model.session.steps() counts steps": "optimizer_state",
        "model.stop_training": "stop_evaluating stop_predicting",
    },
    "layer": {
        "model.get_weights() has the weights of all layers, one after the other, and model.set_weights(values) takes "
        "them; odt.inspect shows a layer's": "weights "
        "get_weights set_weights kernel bias variables trainable_weights trainable_variables non_trainable_weights "
        "non_trainable_variables metrics_variables add_weight add_variable gamma beta moving_mean moving_variance",
        "model.count_params(), or model.summary() by layer": "count_params",
        "layer.shapes has the inputs' shapes; model.summary() the outputs'":
            "input output input_spec input_dtype output_shape input_shape compute_output_shape compute_output_spec "
        "compute_mask symbolic_call stateless_call rematerialized_call call call_signature_parameters call_super_init "
        "apply built build_from_config get_build_config path",
        "leave it out: kernels begin as Glorot uniform, biases as 0, nothing is penalised; odt.AdamW(weight_decay=..) "
        "keeps weights small": "kernel_initializer "
        "bias_initializer kernel_regularizer bias_regularizer kernel_constraint bias_constraint activity_regularizer "
        "losses add_loss add_metric metrics",
        'compile(dtype="int8") or "float32"': "dtype dtype_policy compute_dtype variable_dtype quantize "
        "quantization_mode quantization_config quantized_build quantized_call autocast variable_serialization_spec "
        "supports_jit supports_masking training",
        "odt.adapt.lora.lora(model, layers, rank)": "enable_lora lora_alpha lora_enabled lora_rank",
        "model.export(path) writes a model file": "get_config from_config save_own_variables load_own_variables",
        "layer.trainable": "torch_params",
    },
}  # fmt: skip

# By callable, or "" for any, what to write for which keyword.
KEYWORDS = {
    "": {
        "learning_rate": "lr",
        "leave it out: kernels begin as Glorot uniform, biases as 0; set_weights() sets others":
            "kernel_initializer bias_initializer depthwise_initializer recurrent_initializer unit_forget_bias "
        "gamma_initializer beta_initializer moving_mean_initializer moving_variance_initializer",
        "leave it out: odt has no penalties; odt.AdamW(weight_decay=..) keeps weights small, odt.Dropout regularises":
            "kernel_regularizer bias_regularizer "
        "activity_regularizer depthwise_regularizer gamma_regularizer beta_regularizer kernel_constraint "
        "recurrent_regularizer recurrent_constraint "
        "bias_constraint depthwise_constraint gamma_constraint beta_constraint",
        'leave it out: channels are last': "data_format",
        'compile(dtype="int8") or "float32", and Input(dtype=..) for samples': "dtype",
        "input_shape=(n,), or an odt.Input": "input_dim batch_input_shape input_length",
        "global_clipnorm": "clipnorm clipvalue",
        "leave it out: odt has no moving average of weights": "use_ema ema_momentum ema_overwrite_frequency",
        "leave it out: the bits of int8 need no scale of the loss": "loss_scale_factor gradient_accumulation_steps",
        "leave it out": "lora_rank lora_alpha quantization_config sparse ragged tensor batch_shape "
        "optional size_average reduction amsgrad name centered fused foreach",
        "leave it out: there is one kernel per channel": "depth_multiplier",
        "leave it out: a transposed convolution has one size": "output_padding",
        "leave it out: a sequence is gone through once, from its first step, in a state of 0":
            "return_state go_backwards unroll use_cudnn",
        "odt.Dropout before or after the layer": "dropout recurrent_dropout",
        "leave it out: all steps of one axis are looked at, values are as wide as keys, the output as the query":
            "value_dim output_shape attention_axes flash_attention sliding_window use_gate",
        "the last axis is normalised": "axis",
        "leave it out: gamma and beta are learnt": "center scale renorm renorm_clipping renorm_momentum synchronized "
        "rms_scaling",
        "Normalization().adapt(x), or model.set_weights()": "mean variance invert",
        "odt.Dropout's places are hashes of compile(seed=..)": "noise_shape seed",
        "leave it out: a GlobalAvgPool gives (channels,)": "keepdims",
        "odt.UpSampling2D repeats": "interpolation",
        "negative_slope": "alpha",
        "odt.LeakyReLU(negative_slope), odt.ReLU6()": "negative_slope max_value threshold",
        "a larger kernel, or odt.Conv2D and odt.Conv1D, which have it": "dilation_rate",
        "leave it out: 0 and 1, or targets between them": "label_smoothing",
        "leave such samples out": "ignore_class",
    },
    "Embedding": {
        "vocabulary": "input_dim num_embeddings", "units": "output_dim embedding_dim",
        "leave it out: rows begin as uniform random numbers; set_weights() sets others":
            "embeddings_initializer weights",
        "leave it out: odt has no penalties; odt.AdamW(weight_decay=..) keeps weights small":
            "embeddings_regularizer embeddings_constraint",
        "leave it out: the padding is a token as the others": "mask_zero padding_idx",
        'the steps of odt.Input((steps,), dtype="uint8")': "input_length",
    },
    "Input": {"compile(batch_size=..)": "batch_size", "shape": "input_shape"},
    "compile": {
        "leave it out": "run_eagerly steps_per_execution jit_compile auto_scale_loss weighted_metrics",
        "odt has one output and one loss": "loss_weights",
        "SparseCategoricalCrossentropy(class_weight=..), or fit(class_weight=..)": "class_weight",
        "fit(epochs=..)": "epochs",
    },
    "fit": {
        "class_weight={label: weight}, or samples that count more several times: x.repeat(counts, 0), y.repeat(counts)":
            "sample_weight",
        "validation_data takes all samples, after each epoch, in batches of compile's":
            "validation_steps validation_batch_size validation_freq",
        "leave it out": "workers use_multiprocessing max_queue_size",
    },
    "evaluate": {
        "evaluate(x, y) of the samples that count": "sample_weight",
        "leave it out: evaluate returns (loss, accuracy)": "return_dict steps callbacks",
    },
    "predict": {"predict(x) of the samples that are wanted": "steps callbacks"},
    "ModelCheckpoint": {
        "leave it out: a checkpoint has weights, optimizer and where training stands; model.export(path) writes "
        "weights for inference": "save_weights_only "
        "initial_value_threshold verbose",
        "steps=": "save_freq",
    },
    "EarlyStopping": {"leave it out": "baseline start_from_epoch verbose"},
    "ReduceLROnPlateau": {"leave it out": "verbose"},
    "LearningRateScheduler": {"leave it out": "verbose"},
    "save": {"leave it out": "overwrite save_format"},
    "summary": {"leave it out": "line_length positions print_fn expand_nested show_trainable layer_range"},
    "load_weights": {"leave it out: the layers are the same, or ValueError names the first that differs":
        "skip_mismatch by_name"},
}  # fmt: skip

# The same of what reads files, by the names of pandas, NumPy and others.
_FILES = {
    "CsvReader": {
        "separator=": "delimiter sep delim_whitespace",
        "skip=(0,), the columns to leave out": "columns usecols",
        "leave it out: the first line is a heading if it holds text, and no number in a column that is used":
            "header skiprows skip_header has_header",
        "leave it out: UTF-8 is expected": "encoding",
        "label=, or targets=, a column's number": "target label_column y y_column",
        "decimal=": "thousands decimal_separator",
        "fit(shuffle=True)": "shuffle",
    },
    "CsvSource": {
        "separator=": "delimiter sep delim_whitespace",
        "columns=[1, 2], those to take": "skip usecols",
        "leave it out: lines are taken as fast as they are asked for": "rate",
        "typecode=": "dtype",
    },
    "WavSource": {
        "a Window of the file's channels; of two make one, in NumPy by x.mean(1)": "channels mono",
        "typecode is the file's": "dtype typecode",
    },
}  # fmt: skip


def hint(place, name):
    """What to write instead of this name; "" where nothing is known."""
    for text, names in MISSING.get(place, {}).items():
        if name in names.split():
            return text
    return ""


def missing(place, name, known=()):
    """The text of an AttributeError."""
    found = {"odt": "odt", "model": "a model", "layer": "a layer"}.get(place, "odt." + place)
    text = hint(place, name)
    if not text and place in ("odt", "layers"):
        text = hint("layers" if place == "odt" else "odt", name)
    if not text:
        near = difflib.get_close_matches(name, list(known), 1)
        text = "%s?" % near[0] if near else ""
    return "%s has no %s%s" % (found, name, ": " + text if text else "")


def keyword(call, name, known):
    """The text of a TypeError for a keyword that this callable does not take."""
    for texts in (KEYWORDS.get(call, {}), KEYWORDS[""] if call not in _FILES else {}, _FILES.get(call, {})):
        for text, names in texts.items():
            if name in names.split() and text.split("=")[0] != name:
                return "%s has no %s=: %s" % (call, name, text)
    near = difflib.get_close_matches(name, known, 1)
    return "%s has no %s=%s; it takes %s" % (call, name, ": %s=?" % near[0] if near else "", ", ".join(known))


_SETTING = {
    "optimizer": "compile(optimizer=..), which keeps the weights",
    "loss": "compile(loss=..), which keeps the weights",
    "learning_rate": "compile(odt.Adam(learning_rate)), which keeps the weights",
}


def setting(model, name):
    """The text of the error where an attribute of a model is set that nothing reads."""
    known = [key for key in dir(model) if key[0] != "_"] + sorted(_SETTING)
    near = difflib.get_close_matches(name, known, 1)
    text = _SETTING.get(name) or ("%s?" % near[0] if near and near[0] != name else "")
    if name == "trainable":
        text = "what trains is decided when the model's file is made: model.trainable before compile() and export()"
    return "%s: a model has no such attribute to set%s%s; a class of your own may have any" % (
        name, ": " if text else "", text)  # fmt: skip


MODEL = (
    "Model(input, output): one Input and one layer's output are expected, got %s. Several inputs: one Input that "
    "holds them side by side; several outputs: odt.Concatenate()([a, b]), and the targets side by side. A class of "
    "one's own calls super().__init__(input, output), or is an odt.Sequential"
)
_COMPILE = (
    ("metrics:", "evaluate and history give the loss, and the accuracy of labels; others: model.predict(x) and NumPy"),
    (
        "loss is a name or an object",
        "a custom loss is an object that emits instructions: docs/reference/modules.md",
    ),
    ("loss is one of", "odt.MeanSquaredError, odt.MeanAbsoluteError and odt.Huber for numbers, the others for labels"),
    ("optimizer is one of", "odt.Adam, odt.AdamW, odt.RMSprop or odt.SGD"),
)


def compile_hint(text):
    """What to write where compile() refuses a loss, an optimizer or metrics; "" for other errors."""
    for begin, instead in _COMPILE:
        if text.startswith(begin):
            return instead
    return ""


def table():
    """docs/reference/keras.md's: a row for each text, with the names that it is for."""
    found = {}
    rows = [(place, text, names) for place, texts in MISSING.items() for text, names in texts.items()]
    for place, text, names in rows:
        found.setdefault(text, []).extend(name for name in names.split() if name not in found.get(text, ()))
    lines = ["| Keras | odt |", "|---|---|"]
    for text, names in found.items():
        lines.append("| %s | %s |" % (", ".join("`%s`" % name for name in names), text.replace("|", "\\|")))
    return "\n".join(lines) + "\n"


def keyword_table():
    """The same of arguments."""
    lines = ["| argument | of | odt |", "|---|---|---|"]
    for call, texts in KEYWORDS.items():
        for text, names in texts.items():
            shown = ", ".join("`%s`" % name for name in names.split())
            lines.append("| %s | %s | %s |" % (shown, "`%s`" % call if call else "any", text.replace("|", "\\|")))
    return "\n".join(lines) + "\n"
