// The site's search in pages that are opened as files, where browsers refuse to start a Worker: a frame runs the worker's
// script in its place. Pages of a server keep the browser's own.
if (location.protocol === "file:")
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.documentElement.append(frame);
      const inner = (this.inner = frame.contentWindow);
      inner.document.open();
      inner.document.write("<body></body>");
      inner.document.close();
      const load = (source) =>
        new Promise((resolve, reject) => {
          const script = inner.document.createElement("script");
          script.onload = resolve;
          script.onerror = reject;
          script.src = new URL(source, location).href;
          inner.document.body.append(script);
        });
      inner.importScripts = (...sources) => sources.reduce((done, source) => done.then(() => load(source)), Promise.resolve());
      inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.ready = load(url);
    }
    postMessage(data) {
      this.ready.then(() => this.inner.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {}
  };
