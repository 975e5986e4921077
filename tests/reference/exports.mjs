// Reads the names that the npm package exports out of its declarations, with TypeScript's own compiler.
//
//   node exports.mjs WEB DECLARATIONS      the folders of the package and of its .d.ts files
//
// Prints JSON: for each name its words, its declarations, and those of base classes that are not exported.
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [web, folder] = process.argv.slice(2);
const resolve = createRequire(join(web, "package.json")).resolve;
const { API, SymbolFlags } = await import(pathToFileURL(resolve("typescript/unstable/sync")));

const config = join(folder, "tsconfig.json");
const compilerOptions = {
  target: "ES2022",
  lib: ["ES2022", "DOM", "DOM.Iterable"],
  module: "NodeNext",
  moduleResolution: "NodeNext",
  types: [],
  strict: true,
  noEmit: true,
};
writeFileSync(config, JSON.stringify({ compilerOptions, files: ["index.d.ts"] }));

const api = new API({ cwd: folder });
try {
  const project = api.updateSnapshot({ openProjects: [config] }).getProjects()[0];
  const { checker, program } = project;
  const index = checker.getSymbolAtLocation(program.getSourceFile(join(folder, "index.d.ts")));
  const exported = checker.getExportsOfModule(index);
  const names = new Set(exported.map((symbol) => symbol.name));

  const target = (symbol) => (symbol.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol);
  const described = (symbol) => {
    const nodes = symbol.declarations.map((handle) => handle.resolve(project));
    return {
      name: symbol.name,
      words: symbol.getDocumentationComment(checker),
      declarations: nodes.map((node) => node.getText(node.getSourceFile())),
      bases: nodes
        .flatMap((node) => [...(node.heritageClauses ?? [])])
        .flatMap((clause) => [...clause.types])
        .map((type) => checker.getSymbolAtLocation(type.expression))
        .filter((base) => base !== undefined && !names.has(base.name))
        .map(target)
        .filter((base) => base.declarations.some((handle) => handle.path.startsWith(folder)))
        .map(described),
    };
  };
  process.stdout.write(JSON.stringify(exported.map((symbol) => ({ ...described(target(symbol)), name: symbol.name }))));
} finally {
  api.close();
}
