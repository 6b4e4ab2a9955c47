// render.cjs FOLDER NAME…: draws FOLDER/NAME.vl.json as FOLDER/NAME.svg.  Needs node 18 and the two scripts beside it.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");

const [folder, ...names] = process.argv.slice(2);
if (folder === undefined || names.length === 0) {
  console.error("render.cjs FOLDER NAME…");
  process.exit(2);
}
// As a page runs them: each finds and leaves its library in the global object.
for (const script of ["vega.min.js", "vega-lite.min.js"]) {
  const file = path.join(__dirname, script);
  vm.runInThisContext(fs.readFileSync(file, "utf8"), { filename: file });
}
const { vega, vegaLite } = globalThis;

// Data lie beside the specification; nothing else may be read.
const loader = {
  load: async (uri) => fs.readFileSync(path.join(folder, path.basename(uri)), "utf8"),
  sanitize: async (uri) => ({ href: uri }),
};

(async () => {
  for (const name of names) {
    const spec = JSON.parse(fs.readFileSync(path.join(folder, name + ".vl.json"), "utf8"));
    const compiled = vegaLite.compile(spec, { logger: vega.logger(vega.Error) }).spec;
    const view = new vega.View(vega.parse(compiled), { renderer: "none", loader, logLevel: vega.Error });
    const svg = await view.toSVG();
    const target = path.join(folder, name + ".svg");
    const temporary = path.join(folder, `.${name}.svg.${process.pid}`);
    fs.writeFileSync(temporary, svg + "\n");
    fs.renameSync(temporary, target);
  }
})().catch((error) => {
  console.error(String(error && error.message || error));
  process.exit(1);
});
