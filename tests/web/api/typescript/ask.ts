// Asks a server by a client that is made of its description alone: no type is written by hand, none is cast.
import createClient from "openapi-fetch";
import type { paths } from "./schema.js";

declare const process: { argv: string[] };
const [base = "", log = ""] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl: base });

const search = await client.GET("/api/v1/search", { params: { query: { q: "node2pg", framework: ["roll"] } } });
const found = search.data?.hits[0];
const [framework = "", slug = ""] = (found?.id ?? "").split("/");
const entry = await client.GET("/api/v1/entries/{framework}/{slug}", { params: { path: { framework, slug }, query: { lang: "zh" } } });
const diagnosis = await client.POST("/api/v1/diagnose", { body: { text: log } });
const refused = await client.GET("/api/v1/search", { params: { query: { q: "oom", framework: ["none-such"] } } });

console.log(JSON.stringify({
  hit: { id: found?.id, url: found?.url, score: typeof found?.score },
  entry: { lang: entry.data?.lang, fix: entry.data?.fix },
  diagnosis: { outcome: diagnosis.data?.outcome, match: diagnosis.data?.matches[0]?.id },
  refused: { status: refused.error?.status, field: refused.error?.errors?.[0]?.field },
}));
