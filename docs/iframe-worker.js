// The site's search in pages that are opened as files, where browsers refuse to start a Worker: a frame without a source
// runs the worker's script in its place. Pages of a server keep the browser's own.
if (location.protocol === "file:")
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      const messages = [];
      frame.hidden = true;
      document.documentElement.append(frame);
      const inner = frame.contentWindow;
      const load = (source, done) => {
        const script = inner.document.createElement("script");
        script.onload = done;
        script.src = source;
        inner.document.body.append(script);
      };
      inner.importScripts = (...sources) =>
        sources.reduce((before, source) => before.then(() => new Promise((done) => load(source, done))), Promise.resolve());
      inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.post = (data) => messages.push(data);
      load(new URL(url, location).href, () => {
        this.post = (data) => inner.dispatchEvent(new inner.MessageEvent("message", { data }));
        messages.forEach(this.post);
      });
    }
    postMessage(data) {
      this.post(data);
    }
    terminate() {}
  };
