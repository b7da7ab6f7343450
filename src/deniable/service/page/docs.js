// Shows the OpenAPI description of this server, with nothing from elsewhere.

import { Refused, get, listen, useToken } from "./api.js";
import { element } from "./draw.js";

const byId = (id) => document.getElementById(id);

// A sentence with its `code`.
const prose = (says) => (says ?? "").split("`").map((part, i) => (i % 2 ? element("code", {}, part) : part));

// A type in a few words, with links to the types it is made of.
function typeOf(schema) {
  if (schema === undefined) return ["nothing"];
  if (schema.$ref) {
    const name = schema.$ref.split("/").pop();
    return [element("a", { href: `#${name}` }, name)];
  }
  if (schema.anyOf) return schema.anyOf.flatMap((each, i) => [...(i ? [" or "] : []), ...typeOf(each)]);
  if (schema.enum) return [schema.enum.map((value) => JSON.stringify(value)).join(" or ")];
  if (schema.type === "array") return ["list of ", ...typeOf(schema.items)];
  return [schema.format === "binary" ? "a file" : schema.type ?? "anything"];
}

function table(title, rows) {
  const body = rows.map(([name, type, says]) => element("tr", {}, element("th", { scope: "row" }, element("code", {}, name)), element("td", {}, ...type), element("td", {}, ...prose(says))));
  return element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": title }, element("table", {}, element("caption", { class: "quiet" }, title), element("tbody", {}, ...body)));
}

function contentRows(content) {
  return Object.entries(content ?? {}).map(([kind, { schema }]) => [kind, typeOf(schema), ""]);
}

function endpoint(path, method, operation) {
  const parts = [];
  if (operation.parameters.length) parts.push(table("Parameters", operation.parameters.map((each) => [each.name + (each.required ? "" : "?"), typeOf(each.schema), each.description])));
  if (operation.requestBody) parts.push(table("Body", contentRows(operation.requestBody.content)));
  parts.push(table("Replies", Object.entries(operation.responses).map(([status, reply]) => [status, contentRows(reply.content).flatMap(([, type]) => type), reply.description])));
  return element("details", { class: "endpoint" }, element("summary", {}, element("code", {}, `${method.toUpperCase()} ${path}`), " ", ...prose(operation.summary)), ...parts);
}

async function begin() {
  byId("token-form").hidden = true;
  try {
    const { info, paths, components } = await get("/openapi.json");
    byId("about").textContent = `deniable ${info.version}. ${info.description}`;
    byId("endpoints").replaceChildren(...Object.entries(paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => endpoint(path, method, operation))));
    byId("schemas").replaceChildren(...Object.entries(components.schemas).map(([name, schema]) => element("div", { id: name },
      element("h3", {}, name), element("p", { class: "quiet" }, ...prose(schema.description)),
      table(`Fields of ${name}`, Object.entries(schema.properties ?? {}).map(([field, about]) => [field + (schema.required?.includes(field) ? "" : "?"), typeOf(about), about.description])))));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (error.status !== 401) byId("about").textContent = error.message;
  }
}

listen({ token: (wrong) => { byId("token-form").hidden = false; byId("token-wrong").hidden = !wrong; }, back: begin });
byId("token-form").addEventListener("submit", (event) => { event.preventDefault(); useToken(byId("token").value.trim()); begin(); });
byId("json").addEventListener("click", (event) => { if (!byId("token-form").hidden) event.preventDefault(); });
begin();
