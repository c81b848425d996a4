"""scikit-learn's scalers, linear models and networks, as skl2onnx writes them: the probabilities of the two outputs,
and what trains on.
"""

import numpy as np
import onnxruntime
import pytest
from skl2onnx import to_onnx
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, RobustScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import odt
from odt.host.convert import Unsupported, load

RANDOM = np.random.default_rng(0)
X = (RANDOM.normal(size=(60, 5)) * [1, 5, 0.1, 2, 30] + [0, 3, 1, -2, 100]).astype(np.float32)
TWO = (X[:, 0] + X[:, 1] > 3).astype("int64")
THREE = TWO + (X[:, 3] > -2)
NUMBER = X[:, 0] * 2 - X[:, 4]


def network(kind, activation="relu", **options):
    return kind(hidden_layer_sizes=(8,), activation=activation, max_iter=30, random_state=0, **options)


MODELS = {
    "standard, two classes": (make_pipeline(StandardScaler(), network(MLPClassifier)), TWO),
    "standard, three classes": (make_pipeline(StandardScaler(), network(MLPClassifier, "tanh")), THREE),
    "names of classes": (make_pipeline(StandardScaler(), network(MLPClassifier)), np.array(["a", "b", "c"])[THREE]),
    "least and most": (make_pipeline(MinMaxScaler((-1, 1)), network(MLPClassifier, "logistic")), THREE),
    "most": (make_pipeline(MaxAbsScaler(), LogisticRegression()), THREE),
    "robust": (make_pipeline(RobustScaler(), LogisticRegression()), TWO),
    "no mean": (make_pipeline(StandardScaler(with_mean=False), LinearRegression()), NUMBER),
    "regression": (make_pipeline(StandardScaler(), network(MLPRegressor)), NUMBER),
    "ridge": (Ridge(), NUMBER),
}
REFUSED = {
    "two numbers": (
        network(MLPRegressor),
        np.stack([NUMBER, -NUMBER], 1),
        "Reshape.*one result per sample",
    ),  # one per row of it
    "norm": (make_pipeline(Normalizer(), LogisticRegression()), THREE, "Normalizer|ReduceL2|ReduceSumSquare"),
    "tree": (DecisionTreeClassifier(max_depth=3), THREE, "TreeEnsemble"),
    "vectors": (SVC(probability=False), THREE, "SVM"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("zipmap", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_a_fitted_model_gives_onnxruntimes_and_scikit_learns_numbers(name, zipmap):
    model, y = MODELS[name]
    model.fit(X, y)
    classes = hasattr(model, "predict_proba")
    if zipmap and not classes:
        pytest.skip("a regression has no names of classes")
    proto = to_onnx(model, X[:1], options={id(model): {"zipmap": zipmap}} if classes else None)
    made = load(proto)
    got = made.imported.outputs(made.predict(made.imported.samples(X)))
    expected = model.predict_proba(X) if classes else model.predict(X).reshape(len(X), -1)
    assert np.abs(got - expected).max() <= 1e-4 * np.abs(expected).max()
    if not zipmap:
        session = onnxruntime.InferenceSession(proto.SerializeToString())
        run = session.run(None, {session.get_inputs()[0].name: X})[-1]
        assert np.abs(got - run).max() <= 1e-4 * np.abs(run).max()


@pytest.mark.filterwarnings("ignore")
def test_a_classifier_learns_on_in_int8():
    model, y = MODELS["standard, three classes"]
    proto = to_onnx(model.fit(X, y), X[:1], options={id(model): {"zipmap": False}})
    made = load(proto, calibrate=X, optimizer=odt.Adam(0.01))
    x = made.imported.samples(X)
    before = made.evaluate(x, y.astype("uint8"))[0]
    made.fit(x, y.astype("uint8"), epochs=10, verbose=0)
    assert made.evaluate(x, y.astype("uint8"))[0] < before


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", REFUSED)
def test_what_odt_has_not_is_named(name):
    model, y, words = REFUSED[name]
    with pytest.raises(Unsupported, match=words):
        load(to_onnx(model.fit(X, y), X[:1]))
