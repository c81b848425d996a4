// The arrays x and y of an .npz file, as numpy.savez and savez_compressed write it: a ZIP file of .npy files.
//
// Formats: PKWARE's APPNOTE.TXT, and numpy.lib.format. Nothing is unpickled.

const MOST = 8 * 1024 * 1024; // bytes of x, in the page's numbers
const CLASSES = 32;
const text = (bytes) => new TextDecoder().decode(bytes);

// {name: bytes} of the .npy members; an Error that says what is wrong with the file.
async function members(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let end = bytes.length - 22;
  while (end >= 0 && view.getUint32(end, true) !== 0x06054b50) {
    end--;
  }
  if (end < 0) {
    throw new Error('no .npz file, or one that is cut off');
  }
  const found = {};
  let at = view.getUint32(end + 16, true);
  try {
    for (let count = view.getUint16(end + 10, true); count > 0; count--) {
      const [flags, method] = [view.getUint16(at + 8, true), view.getUint16(at + 10, true)];
      const [crc, packed, size] = [16, 20, 24].map((offset) => view.getUint32(at + offset, true));
      const [named, extra, comment] = [28, 30, 32].map((offset) => view.getUint16(at + offset, true));
      const name = text(bytes.subarray(at + 46, at + 46 + named));
      const local = view.getUint32(at + 42, true);
      if (name.endsWith('.npy')) {
        const begin = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
        const data = bytes.subarray(begin, begin + packed);
        found[name.slice(0, -4)] = () => unpacked(name, data, { flags, method, crc, size });
      }
      at += 46 + named + extra + comment;
    }
  } catch (error) {
    throw error instanceof RangeError ? new Error('the list of its members is damaged') : error;
  }
  return found;
}

async function unpacked(name, packed, { flags, method, crc, size }) {
  if (flags & 1 || ![0, 8].includes(method)) {
    const how = flags & 1 ? 'encrypted' : `packed by method ${method}`;
    throw new Error(`${name} is ${how}: save it by savez or savez_compressed`);
  }
  if (size > 2 * MOST + 1024) {
    throw new Error(`${name} has ${size} bytes, the page takes at most ${2 * MOST}`);
  }
  let data = packed;
  if (method === 8) {
    try {
      data = await inflated(packed, size);
    } catch {
      throw new Error(`${name} is damaged: it does not unpack`);
    }
  }
  if (data.length !== size || crc32(data) !== crc) {
    throw new Error(`${name} is damaged: its CRC-32 is not the file's`);
  }
  return data;
}

async function inflated(packed, size) {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  const data = new Uint8Array(size);
  let at = 0;
  for (const reader = stream.getReader(); ;) {
    const { value, done } = await reader.read();
    if (done) {
      return data.subarray(0, at);
    }
    data.set(value, at); // RangeError where it is longer than it says
    at += value.length;
  }
}

function crc32(data) {
  let crc = -1;
  for (const byte of data) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) {
      crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
    }
  }
  return ~crc >>> 0;
}

const KINDS = {
  b1: [1, 'getUint8'], u1: [1, 'getUint8'], i1: [1, 'getInt8'], u2: [2, 'getUint16'], i2: [2, 'getInt16'],
  u4: [4, 'getUint32'], i4: [4, 'getInt32'], u8: [8, 'getBigUint64'], i8: [8, 'getBigInt64'],
  f4: [4, 'getFloat32'], f8: [8, 'getFloat64'],
};

// {shape, kind, count, at(index)} of an .npy file's bytes.
function array(name, bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (text(bytes.subarray(1, 6)) !== 'NUMPY') {
    throw new Error(`${name}.npy is no .npy file`);
  }
  const long = bytes[6] > 1;
  const start = long ? 12 : 10;
  const length = long ? view.getUint32(8, true) : view.getUint16(8, true);
  const header = text(bytes.subarray(start, start + length));
  const [, descr] = header.match(/'descr': '([^']*)'/) ?? [];
  const [, extents] = header.match(/'shape': \(([^)]*)\)/) ?? [];
  if (descr === undefined || extents === undefined) {
    throw new Error(`${name}: its header gives no dtype and shape of one array of numbers`);
  }
  if (descr.includes('O')) {
    throw new Error(`${name} holds pickled objects, which a page must not open: save numbers, as by `
      + `${name}.astype(float)`);
  }
  const kind = descr.slice(1);
  const words = descr[0] === '<' && /^U\d+$/.test(kind);
  if (descr[0] === '>' || !(words || KINDS[kind])) {
    throw new Error(`${name}: dtype ${descr}, expected little-endian numbers: convert it with astype()`);
  }
  if (/'fortran_order': True/.test(header)) {
    throw new Error(`${name} is in Fortran order: save numpy.ascontiguousarray(${name})`);
  }
  const shape = extents.split(',').filter((extent) => extent.trim()).map(Number);
  const count = shape.reduce((product, extent) => product * extent, 1);
  const size = words ? 4 * Number(kind.slice(1)) : KINDS[kind][0];
  const data = start + length;
  if (bytes.length - data !== count * size) {
    throw new Error(`${name}: shape (${extents.trim()}), but ${bytes.length - data} bytes of numbers`);
  }
  const word = (index) => {
    const codes = Array.from({ length: size / 4 }, (_, i) => view.getUint32(data + size * index + 4 * i, true));
    return String.fromCodePoint(...codes.filter((code) => code && code < 0x110000));
  };
  const number = (index) => Number(view[KINDS[kind][1]](data + size * index, true));
  return { shape, kind, count, at: words ? word : number };
}

const shown = ({ shape }) => `(${shape.join(', ')}${shape.length === 1 ? ',' : ''})`;

// {shape, code, names, x, y}: of a sample its shape, "B" for uint8 or "f"; classes; bytes of x and of labels.
export async function readNpz(bytes) {
  const found = await members(bytes);
  const [inputs, labels] = [found.x ?? found.X, found.y ?? found.Y];
  if (!inputs || !labels) {
    const names = Object.keys(found).join(', ') || 'no arrays';
    throw new Error(`it holds ${names}, expected x and y: numpy.savez("data.npz", x=.., y=..)`);
  }
  const [x, y] = [array('x', await inputs()), array('y', await labels())];
  if (x.shape.length < 2 || x.shape.length > 4 || x.kind[0] === 'U') {
    throw new Error(`x has the shape ${shown(x)}, expected numbers of 2 axes, (samples, features), or 3 or 4 of `
      + 'images');
  }
  if (y.shape.length !== 1 && !(y.shape.length === 2 && y.shape[1] === 1)) {
    throw new Error(`y has the shape ${shown(y)}, expected one class for each sample: (${x.shape[0]},)`);
  }
  if (x.shape[0] !== y.shape[0]) {
    throw new Error(`x has ${x.shape[0]} samples, y has ${y.shape[0]}`);
  }
  if (x.shape[0] < 4 || x.count === 0) {
    throw new Error(`x has the shape ${shown(x)}, expected 4 or more samples`);
  }
  const code = x.kind === 'u1' && x.shape.length > 2 ? 'B' : 'f';
  if (x.count * (code === 'f' ? 4 : 1) > MOST) {
    const most = MOST / (code === 'f' ? 4 : 1);
    throw new Error(`x has ${x.count} numbers, the page takes ${most} at most: save fewer samples`);
  }
  const numbers = code === 'B' ? new Uint8Array(x.count) : new Float32Array(x.count);
  for (let i = 0; i < x.count; i++) {
    numbers[i] = x.at(i);
    if (!(Math.abs(numbers[i]) < 1e18)) {
      throw new Error(`x: sample ${Math.floor(i * x.shape[0] / x.count)} has a number that is none below 1e18`);
    }
  }
  const classes = [...new Set(Array.from({ length: y.count }, (_, i) => y.at(i)))];
  if (classes.length < 2 || classes.length > CLASSES) {
    throw new Error(`y has ${classes.length} different values, expected 2 to ${CLASSES} classes`);
  }
  classes.sort((a, b) => (typeof a === 'number' ? a - b : a < b ? -1 : 1));
  const number = new Map(classes.map((name, index) => [name, index]));
  const y32 = Int32Array.from({ length: y.count }, (_, i) => number.get(y.at(i)));
  return {
    shape: x.shape.slice(1), code, names: classes.map(String),
    x: new Uint8Array(numbers.buffer), y: new Uint8Array(y32.buffer),
  };
}
