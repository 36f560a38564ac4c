// SPDX-License-Identifier: BSD-3-Clause
// The map of the differing elements: planes side by side on a canvas of the size of its view. Cells
// outside the view are not drawn. Differing cells have a colour, and a cross, a frame or both values.

const LABEL = 20, SPACE = 14, HEIGHT = 460;

class ElementMap {
  constructor(place) {
    this.cells = new Cells(JSON.parse(place.querySelector("script").textContent));
    this.at = { plane: 0, row: 0, column: 0 };
    this.build(place);
    this.size = this.fitting();
    this.layOut();
  }

  build(place) {
    const { cells } = this;
    this.canvas = make("canvas", { tabindex: "0", role: "img",
      "aria-label": `Differing elements of ${cells.planes.length} planes. Arrow keys read elements.` });
    this.room = make("div", { class: "room" });
    this.view = make("div", { class: "view", onscroll: () => this.draw() }, this.canvas, this.room);
    this.output = make("output", { "aria-live": "polite" });
    const zoom = (factor) => { this.size = Math.min(64, Math.max(1, Math.round(this.size * factor))); this.layOut(); };
    const bar = make("div", { class: "bar" },
      make("button", { type: "button", onclick: () => zoom(0.5), "aria-label": "Smaller cells" }, "−"),
      make("button", { type: "button", onclick: () => zoom(2), "aria-label": "Larger cells" }, "+"),
      cells.block > 1 ? `Each cell is ${cells.block} × ${cells.block} elements.`
        : "Framed or crossed cells differ: the upper value was got, the lower one expected.");
    if (cells.left) bar.append(` ${cells.left} further planes differ.`);
    place.append(make("div", { class: "map" }, bar, this.view, this.output));
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.addEventListener("keydown", (event) => this.move(event));
    document.addEventListener("theme", () => this.draw());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    addEventListener("beforeprint", () => this.draw());
    addEventListener("resize", () => this.layOut());
  }

  // Returns a size of cells with which up to three planes fit beside one another.
  fitting() {
    const { rows, columns, planes } = this.cells, across = Math.min(3, planes.length);
    const width = (this.view.clientWidth || 600) / across - SPACE;
    const size = Math.floor(Math.min(width / columns, (HEIGHT - LABEL - SPACE) / rows));
    return Math.max(1, Math.min(44, size));
  }

  // Places the planes in lines that fit into the view.
  layOut() {
    const { rows, columns, planes } = this.cells, size = this.size;
    this.view.style.width = "100%";
    const step = columns * size + SPACE, height = rows * size + LABEL + SPACE;
    this.across = Math.max(1, Math.min(planes.length, Math.floor((this.view.clientWidth - 4) / step)));
    this.step = [height, step];
    this.width = this.across * step;
    this.height = Math.ceil(planes.length / this.across) * height;
    this.view.style.width = `${this.width + 18}px`;
    this.view.style.height = `${Math.min(this.height, HEIGHT) + 2}px`;
    this.room.style.width = `${this.width}px`;
    this.room.style.height = `${this.height}px`;
    this.draw();
  }

  // Returns the left and upper edge of the cells of a plane.
  corner(number) {
    return [(number % this.across) * this.step[1] + SPACE / 2, Math.floor(number / this.across) * this.step[0] + LABEL];
  }

  look(pen) {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    return { pen, gap: this.size > 5 ? 1 : 0, ink: colour("ink"), soft: colour("soft"), hole: colour("card"),
             differ: colour("differ"), got: colour("got"), same: colour("same") };
  }

  draw() {
    const { canvas, view } = this, scale = window.devicePixelRatio || 1;
    const width = Math.min(view.clientWidth, this.width), height = Math.min(view.clientHeight, this.height);
    canvas.width = width * scale;
    canvas.height = height * scale;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    pen.translate(-view.scrollLeft, -view.scrollTop);
    const seen = { left: view.scrollLeft, top: view.scrollTop, right: view.scrollLeft + width, bottom: view.scrollTop + height };
    const look = this.look(pen);
    this.cells.planes.forEach((plane, number) => this.drawPlane(look, seen, plane, ...this.corner(number)));
  }

  drawPlane(look, seen, plane, x, y) {
    const { cells, size } = this, { pen } = look;
    const right = x + cells.columns * size, bottom = y + cells.rows * size;
    if (x > seen.right || right < seen.left || y - LABEL > seen.bottom || bottom < seen.top) return;
    pen.fillStyle = look.soft;
    pen.font = "12px sans-serif";
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    pen.fillText(cells.label(plane), x, y - LABEL / 2);
    pen.fillStyle = look.same;
    pen.fillRect(x, y, cells.columns * size, cells.rows * size);
    const first = (edge, from) => Math.max(0, Math.floor((edge - from) / size));
    const lastRow = Math.min(cells.rows - 1, first(seen.bottom, y)), lastColumn = Math.min(cells.columns - 1, first(seen.right, x));
    for (let row = first(seen.top, y); row <= lastRow; row++)
      for (let column = first(seen.left, x); column <= lastColumn; column++)
        this.drawCell(look, cells.index(plane.base, row, column), x + column * size, y + row * size);
  }

  drawCell(look, index, x, y) {
    const { pen } = look, { cells } = this, mark = cells.marks[index], inner = this.size - look.gap;
    const values = this.size >= 26 && cells.valuesOf(index);
    if (look.gap) {
      pen.strokeStyle = look.hole;
      pen.strokeRect(x + 0.5, y + 0.5, inner, inner);
    }
    if (mark) {
      pen.globalAlpha = cells.block > 1 ? 0.25 + 0.75 * mark / 255 : 1;
      pen.fillStyle = values ? look.got : look.differ;
      pen.fillRect(x, y, inner, inner);
      pen.globalAlpha = 1;
    }
    if (mark && !values && inner >= 8) this.drawCross(look, x, y, inner);
    if (values) this.drawValues(look, values, mark, x, y, inner);
  }

  drawCross({ pen, hole }, x, y, inner) {
    pen.strokeStyle = hole;
    pen.beginPath();
    pen.moveTo(x + 2, y + 2);
    pen.lineTo(x + inner - 2, y + inner - 2);
    pen.moveTo(x + inner - 2, y + 2);
    pen.lineTo(x + 2, y + inner - 2);
    pen.stroke();
  }

  drawValues(look, [got, wanted], mark, x, y, inner) {
    const { pen } = look;
    pen.fillStyle = look.ink;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.font = `${mark ? "bold " : ""}${Math.min(13, Math.floor(this.size * 0.34))}px sans-serif`;
    pen.fillText(got, x + inner / 2, y + inner * (mark ? 0.32 : 0.5), inner - 2);
    if (!mark) return;
    pen.font = `${Math.min(11, Math.floor(this.size * 0.28))}px sans-serif`;
    pen.fillText(wanted, x + inner / 2, y + inner * 0.74, inner - 2);
    pen.strokeStyle = look.differ;
    pen.strokeRect(x + 1, y + 1, inner - 2, inner - 2);
  }

  // Reads the cell below the pointer.
  point(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left + this.view.scrollLeft, y = event.clientY - box.top + this.view.scrollTop;
    const plane = Math.floor(y / this.step[0]) * this.across + Math.min(this.across - 1, Math.floor(x / this.step[1]));
    if (plane >= this.cells.planes.length) return;
    const [left, top] = this.corner(plane);
    this.read(plane, Math.floor((y - top) / this.size), Math.floor((x - left) / this.size));
  }

  // Goes to the next cell, or with Page keys to the next plane.
  move(event) {
    const steps = { ArrowUp: [0, -1, 0], ArrowDown: [0, 1, 0], ArrowLeft: [0, 0, -1], ArrowRight: [0, 0, 1],
                    PageUp: [-1, 0, 0], PageDown: [1, 0, 0] };
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    const within = (value, count) => Math.min(count - 1, Math.max(0, value));
    const plane = within(this.at.plane + step[0], this.cells.planes.length);
    const [left, top] = this.corner(plane);
    this.read(plane, within(this.at.row + step[1], this.cells.rows), within(this.at.column + step[2], this.cells.columns));
    this.view.scrollTop = Math.max(0, top + this.at.row * this.size - 200);
    this.view.scrollLeft = Math.max(0, left + this.at.column * this.size - 200);
  }

  read(plane, row, column) {
    if (row < 0 || column < 0 || row >= this.cells.rows || column >= this.cells.columns) return;
    this.at = { plane, row, column };
    this.output.textContent = this.cells.sentence(this.cells.planes[plane], row, column);
  }
}

// Makes the map of a failure when it is opened for the first time.
function addMaps() {
  for (const place of all(".cells")) {
    const failure = place.closest("details");
    const start = () => {
      if (failure.open && !place.querySelector(".map")) new ElementMap(place);
    };
    failure.addEventListener("toggle", start);
    start();
  }
}
