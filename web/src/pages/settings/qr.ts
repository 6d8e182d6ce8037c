/** QR codes (ISO/IEC 18004) of the error correction level M in byte mode. */

/** By version from 1: codewords of error correction in a block, then number of blocks and data codewords of each. */
const BLOCKS: readonly (readonly number[])[] = [
  [10, 1, 16],
  [16, 1, 28],
  [26, 1, 44],
  [18, 2, 32],
  [24, 2, 43],
  [16, 4, 27],
  [18, 4, 31],
  [22, 2, 38, 2, 39],
  [22, 3, 36, 2, 37],
  [26, 4, 43, 1, 44],
  [30, 1, 50, 4, 51],
  [22, 6, 36, 2, 37],
  [22, 8, 37, 1, 38],
  [24, 4, 40, 5, 41],
  [24, 5, 41, 5, 42],
  [28, 7, 45, 3, 46],
  [28, 10, 46, 1, 47],
  [26, 9, 43, 4, 44],
  [26, 3, 44, 11, 45],
  [26, 3, 41, 13, 42],
];
/** The versions from here have a length of 16 bits, and information about the version from 7. */
const LONG_LENGTH_FROM = 10;
const VERSION_INFO_FROM = 7;

type Grid = boolean[][];

/** The matrix of a text, `true` for dark; undefined for a text of more than 666 bytes. Without `mask`, the best one. */
export function qrMatrix(text: string, mask?: number): Grid | undefined {
  const bytes = new TextEncoder().encode(text);
  const version = BLOCKS.findIndex((_, index) => capacity(index + 1) >= bytes.length) + 1;
  if (version === 0) return undefined;
  const bits = interleaved(version, dataCodewords(version, bytes)).flatMap((byte) => bitsOf(byte, 8));
  const { grid, fixed } = patterns(version);
  place(grid, fixed, bits);
  const masks = mask === undefined ? [0, 1, 2, 3, 4, 5, 6, 7] : [mask];
  const candidates = masks.map((each) => masked(version, grid, fixed, each));
  return candidates.reduce((best, each) => (penalty(each) < penalty(best) ? each : best));
}

/** The dark modules of a matrix as the attribute `d` of an SVG path, with one unit for a module. */
export function qrPath(matrix: Grid): string {
  let path = "";
  matrix.forEach((row, y) => {
    for (let x = 0; x < row.length; x++) {
      const from = x;
      while (row[x]) x++;
      if (x > from) path += `M${from} ${y}h${x - from}v1h-${x - from}z`;
    }
  });
  return path;
}

function blockSizes(version: number): number[] {
  const [, ...groups] = BLOCKS[version - 1] ?? [];
  const sizes: number[] = [];
  for (let at = 0; at < groups.length; at += 2) sizes.push(...Array<number>(groups[at] ?? 0).fill(groups[at + 1] ?? 0));
  return sizes;
}

function dataSize(version: number): number {
  return blockSizes(version).reduce((sum, size) => sum + size, 0);
}

function capacity(version: number): number {
  return dataSize(version) - (version < LONG_LENGTH_FROM ? 2 : 3);
}

function bitsOf(value: number, length: number): number[] {
  return Array.from({ length }, (_, index) => (value >> (length - 1 - index)) & 1);
}

function dataCodewords(version: number, bytes: Uint8Array): number[] {
  const size = dataSize(version);
  const length = version < LONG_LENGTH_FROM ? 8 : 16;
  // The mode "byte", the length, the bytes, and up to four bits of end.
  const bits = [...bitsOf(4, 4), ...bitsOf(bytes.length, length), ...[...bytes].flatMap((byte) => bitsOf(byte, 8))];
  bits.push(...Array<number>(Math.min(4, size * 8 - bits.length)).fill(0));
  while (bits.length % 8) bits.push(0);
  const words: number[] = [];
  for (let at = 0; at < bits.length; at += 8)
    words.push(bits.slice(at, at + 8).reduce((word, bit) => (word << 1) | bit, 0));
  for (let pad = 0xec; words.length < size; pad ^= 0xec ^ 0x11) words.push(pad);
  return words;
}

/** Multiply in the field of 256 elements modulo x⁸ + x⁴ + x³ + x² + 1. */
function multiply(first: number, second: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit--) {
    product = (product << 1) ^ (product & 0x80 ? 0x11d : 0);
    if ((second >> bit) & 1) product ^= first;
  }
  return product;
}

function correction(data: number[], length: number): number[] {
  let generator = [1];
  for (let power = 1, at = 0; at < length; at++, power = multiply(power, 2)) {
    const next = [...generator, 0];
    generator.forEach((each, index) => {
      next[index + 1] = (next[index + 1] ?? 0) ^ multiply(each, power);
    });
    generator = next;
  }
  const rest = [...data, ...Array<number>(length).fill(0)];
  for (let at = 0; at < data.length; at++) {
    const factor = rest[at] ?? 0;
    generator.forEach((each, index) => {
      rest[at + index] = (rest[at + index] ?? 0) ^ multiply(each, factor);
    });
  }
  return rest.slice(data.length);
}

function interleaved(version: number, words: number[]): number[] {
  let at = 0;
  const blocks = blockSizes(version).map((size) => {
    at += size;
    return words.slice(at - size, at);
  });
  const corrections = blocks.map((block) => correction(block, BLOCKS[version - 1]?.[0] ?? 0));
  const columns = (rows: number[][]) =>
    Array.from({ length: Math.max(...rows.map((row) => row.length)) }, (_, column) =>
      rows.flatMap((row) => (column < row.length ? [row[column] ?? 0] : [])),
    ).flat();
  return [...columns(blocks), ...columns(corrections)];
}

/** Where the centres of the alignment patterns are, in both directions. */
function alignments(version: number): number[] {
  if (version === 1) return [];
  const size = version * 4 + 17;
  const number = Math.floor(version / 7) + 2;
  const step = Math.ceil((size - 13) / (2 * number - 2)) * 2;
  return [6, ...Array.from({ length: number - 1 }, (_, index) => size - 7 - (number - 2 - index) * step)];
}

/** The patterns that are the same for all texts, and which modules belong to them or to the information. */
function patterns(version: number): { grid: Grid; fixed: Grid } {
  const size = version * 4 + 17;
  const grid: Grid = Array.from({ length: size }, () => Array<boolean>(size).fill(false));
  const fixed: Grid = grid.map((row) => [...row]);
  const set = (x: number, y: number, dark: boolean) => {
    const row = grid[y];
    const isFixed = fixed[y];
    if (!row || !isFixed || x < 0 || x >= size) return;
    row[x] = dark;
    isFixed[x] = true;
  };
  for (let at = 0; at < size; at++) {
    set(at, 6, at % 2 === 0);
    set(6, at, at % 2 === 0);
  }
  const centres = alignments(version);
  const last = centres.length - 1;
  centres.forEach((x, column) => {
    centres.forEach((y, row) => {
      const isFinder = (column === 0 && (row === 0 || row === last)) || (column === last && row === 0);
      if (!isFinder) square(set, x, y, 2, (distance) => distance !== 1);
    });
  });
  for (const [x, y] of [
    [3, 3],
    [size - 4, 3],
    [3, size - 4],
  ] as const)
    square(set, x, y, 4, (distance) => distance !== 2 && distance !== 4);
  information(version, 0, set);
  return { grid, fixed };
}

type SetModule = (x: number, y: number, dark: boolean) => void;

/** Rings around a centre, dark by their distance. */
function square(set: SetModule, x: number, y: number, radius: number, isDark: (distance: number) => boolean): void {
  for (let dx = -radius; dx <= radius; dx++)
    for (let dy = -radius; dy <= radius; dy++) set(x + dx, y + dy, isDark(Math.max(Math.abs(dx), Math.abs(dy))));
}

/** The remainder of a BCH code. */
function remainder(value: number, generator: number, length: number): number {
  let rest = value << length;
  for (let bit = 31 - Math.clz32(rest); bit >= length; bit--)
    if ((rest >> bit) & 1) rest ^= generator << (bit - length);
  return rest;
}

/** The information about level, mask and version. */
function information(version: number, mask: number, set: SetModule): void {
  const size = version * 4 + 17;
  // The two bits of the level M are 0.
  const format = ((mask << 10) | remainder(mask, 0x537, 10)) ^ 0x5412;
  for (let bit = 0; bit < 15; bit++) {
    const dark = ((format >> bit) & 1) === 1;
    if (bit < 6) set(8, bit, dark);
    else if (bit < 8) set(8, bit + 1, dark);
    else if (bit === 8) set(7, 8, dark);
    else set(14 - bit, 8, dark);
    if (bit < 8) set(size - 1 - bit, 8, dark);
    else set(8, size - 15 + bit, dark);
  }
  set(8, size - 8, true);
  if (version < VERSION_INFO_FROM) return;
  const about = (version << 12) | remainder(version, 0x1f25, 12);
  for (let bit = 0; bit < 18; bit++) {
    const dark = ((about >> bit) & 1) === 1;
    const [far, near] = [size - 11 + (bit % 3), Math.floor(bit / 3)];
    set(far, near, dark);
    set(near, far, dark);
  }
}

/** Write the bits in columns of two modules from the right, up and down in turn. */
function place(grid: Grid, fixed: Grid, bits: number[]): void {
  const size = grid.length;
  let at = 0;
  let isUp = true;
  for (let right = size - 1; right > 0; right -= 2) {
    if (right === 6) right = 5;
    for (let step = 0; step < size; step++) {
      const y = isUp ? size - 1 - step : step;
      for (const x of [right, right - 1]) {
        const row = grid[y];
        if (row && !fixed[y]?.[x]) row[x] = bits[at++] === 1;
      }
    }
    isUp = !isUp;
  }
}

const MASKS: ((x: number, y: number) => boolean)[] = [
  (x, y) => (x + y) % 2 === 0,
  (_, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
];

function masked(version: number, grid: Grid, fixed: Grid, mask: number): Grid {
  const result = grid.map((row, y) => row.map((dark, x) => dark !== (!fixed[y]?.[x] && MASKS[mask]?.(x, y) === true)));
  information(version, mask, (x, y, dark) => {
    const row = result[y];
    if (row) row[x] = dark;
  });
  return result;
}

/** How hard a matrix is to read: long runs, squares, what looks like a finder pattern, and imbalance. */
function penalty(grid: Grid): number {
  const size = grid.length;
  const columns = grid.map((_, x) => grid.map((row) => row[x] === true));
  let score = 0;
  for (const line of [...grid, ...columns]) {
    const text = line.map((dark) => (dark ? "1" : "0")).join("");
    for (const run of text.match(/0{5,}|1{5,}/g) ?? []) score += run.length - 2;
    for (let at = 0; at + 11 <= size; at++)
      if (/^(00001011101|10111010000)$/.test(text.slice(at, at + 11))) score += 40;
  }
  let darkCount = 0;
  for (let y = 0; y < size; y++)
    for (let x = 0; x < size; x++) {
      const dark = grid[y]?.[x];
      if (dark) darkCount++;
      if (dark === grid[y]?.[x + 1] && dark === grid[y + 1]?.[x] && dark === grid[y + 1]?.[x + 1]) score += 3;
    }
  return score + Math.floor(Math.abs((darkCount * 20) / (size * size) - 10)) * 10;
}
