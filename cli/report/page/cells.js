// SPDX-License-Identifier: BSD-3-Clause
// The differing elements of a failure as data: their places, values, and the planes of a view.

const bytesOf = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

// Decodes run lengths into a byte for each element: 1 differs.
function decodeRuns(text, count) {
  const bytes = bytesOf(text), differs = new Uint8Array(count);
  let at = 0, different = 0;
  for (let i = 0; i < bytes.length;) {
    let run = 0, scale = 1;
    for (; bytes[i] >= 128; scale *= 128) run += (bytes[i++] - 128) * scale;
    run += bytes[i++] * scale;
    if (different) differs.fill(1, at, at + run);
    at += run;
    different = 1 - different;
  }
  return differs;
}

const product = (numbers) => numbers.reduce((a, b) => a * b, 1);

// Cells are elements, or square blocks of elements of a large tensor.
class Cells {
  constructor(data) {
    this.shape = data.shape.length > 1 ? data.shape : [1, ...data.shape];
    this.hidden = this.shape.length - data.shape.length; // dimensions that the tensor does not have
    this.block = data.block ?? 1;
    this.data = data;
    this.grid = this.shape.map((extent, d) => d < this.shape.length - 2 ? extent : Math.ceil(extent / this.block));
    this.marks = this.block === 1 ? decodeRuns(data.runs, product(this.shape)) : bytesOf(data.blocks);
    this.chooseView();
    this.findPlanes();
    this.values = new Map();
    for (let i = 0, n = 0; this.block === 1 && !data.all && i < this.marks.length && n < data.got.length; i++)
      if (this.marks[i]) this.values.set(i, n++);
  }

  // Shows the last two dimensions as rows and columns, or the two before short channels, as `mlictl explain` does.
  chooseView() {
    const rank = this.grid.length, last = this.grid[rank - 1];
    const channels = this.block === 1 && rank > 2 && last <= 4 && this.grid[rank - 2] > last && this.grid[rank - 3] > last;
    this.rowDim = channels ? rank - 3 : rank - 2;
    this.columnDim = this.rowDim + 1;
    this.rows = this.grid[this.rowDim];
    this.columns = this.grid[this.columnDim];
    this.stride = this.grid.map((_, d) => product(this.grid.slice(d + 1)));
    this.others = this.grid.map((_, d) => d).filter((d) => d !== this.rowDim && d !== this.columnDim);
  }

  // Finds the first planes with differing elements: [{base, at}], `at` by dimension.
  findPlanes() {
    this.planes = [];
    this.left = 0;
    const at = this.grid.map(() => 0);
    for (;;) {
      const base = this.others.reduce((sum, d) => sum + at[d] * this.stride[d], 0);
      if (base >= this.marks.length) break;
      if (this.differs(base)) {
        if (this.planes.length < 256) this.planes.push({ base, at: [...at] });
        else this.left++;
      }
      let i = this.others.length - 1;
      while (i >= 0 && ++at[this.others[i]] === this.grid[this.others[i]]) at[this.others[i--]] = 0;
      if (i < 0) break;
    }
  }

  differs(base) {
    for (let row = 0; row < this.rows; row++)
      for (let column = 0; column < this.columns; column++)
        if (this.marks[this.index(base, row, column)]) return true;
    return false;
  }

  index(base, row, column) {
    return base + row * this.stride[this.rowDim] + column * this.stride[this.columnDim];
  }

  valuesOf(index) {
    if (this.block > 1) return null;
    const place = this.data.all ? index : this.values.get(index);
    return place === undefined ? null : [this.data.got[place], this.data.wanted[place]];
  }

  // Returns "[2, :, :]" of a plane, or "[2, 0, 5]" of its cell.
  label({ at }, row = ":", column = ":") {
    const words = at.map((c, d) => d === this.rowDim ? row : d === this.columnDim ? column : c);
    return `[${words.slice(this.hidden).join(", ")}]`;
  }

  // Returns a sentence about a cell.
  sentence(plane, row, column) {
    const index = this.index(plane.base, row, column), mark = this.marks[index], values = this.valuesOf(index);
    const place = this.label(plane, row * this.block, column * this.block);
    if (this.block > 1)
      return `${this.block} × ${this.block} elements from ${place}: ${mark ? Math.max(1, Math.round(100 * mark / 255)) : 0} % differ`;
    if (!mark) return `${place}: ${values ? values[0] : "equal"}`;
    return values ? `${place}: got ${values[0]}, expected ${values[1]}` : `${place}: differs`;
  }
}
