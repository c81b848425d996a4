// setImmediate(), which Node has and browsers have not: what tests_device/rp2040js/chip.mjs is driven by.

const { port1, port2 } = new MessageChannel();
const calls = [];
port1.onmessage = () => calls.shift()();
globalThis.setImmediate ??= (call) => {
  calls.push(call);
  port2.postMessage(null);
};
