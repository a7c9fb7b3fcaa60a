// The page in Chromium, as its users use it. The test `serve::page` starts the servers and this.
//
// Usage: node run.mjs '{"tools": DIR, "out": DIR, "browser": PATH, "alone": FILE, "hostile": FILE, "report": FILE, "optimized": FILE}', where the files are pages of traces, of a comparison and of an optimized statement.
// A line `link? NAME` on standard output asks for an unused link of a server, and a line of standard input is that link: `rules` and `model` are
// servers over a small shop, `metrics` is one with definitions of metrics, `hostile` is one over hostile names and cells.

import assert from "node:assert/strict";
import { readFileSync, mkdirSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const given = JSON.parse(process.argv[2]);
const require = createRequire(join(given.tools, "package.json"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
mkdirSync(given.out, { recursive: true });

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // The name of an attacker that leads to this machine.
  "--host-resolver-rules=MAP evil.example 127.0.0.1",
];

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

async function freshLink(name) {
  console.log(`link? ${name}`);
  return (await lines.next()).value;
}

const browser = await chromium.launch({ executablePath: given.browser, args: FLAGS });
const wrong = [];

/** A page of a browser of its own, in which every request and every error is watched. */
async function open(name, options = {}) {
  const link = await freshLink(name);
  const page = await watch(`${new URL(link).origin}/`, options);
  await page.goto(link);
  await page.getByRole("heading", { name: "Ask", exact: true }).waitFor();
  return page;
}

/** A page that may load what begins so, and nothing else. */
async function watch(own, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(own) && !url.startsWith("data:") && !url.startsWith("blob:")) wrong.push(`a request to ${url}`);
  });
  page.on("pageerror", (error) => wrong.push(`an error: ${error}`));
  page.on("console", (message) => {
    if (message.type() === "error" && !/status of (4\d\d|502)/.test(message.text())) wrong.push(`the console: ${message.text()}`);
  });
  page.on("dialog", (dialog) => {
    wrong.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return page;
}

/** Nothing serious for assistive technology. */
async function checkNames(page, view) {
  await page.evaluate(axe);
  const result = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  for (const { id, impact, help, nodes } of result.violations) {
    if (impact === "serious" || impact === "critical") wrong.push(`${view}: ${id} (${impact}): ${help}: ${nodes[0].html.slice(0, 200)}`);
  }
}

/** A picture in light and dark, and the check of names in both; then on a narrow screen and on paper. */
async function see(page, view) {
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: join(given.out, `${view}-${colorScheme}.png`), fullPage: true, animations: "disabled" });
    await checkNames(page, `${view} in ${colorScheme}`);
  }
  await page.emulateMedia({ colorScheme: "light" });
  // As much as a screen shows, for the documents.
  await page.screenshot({ path: join(given.out, `${view}-screen.png`), animations: "disabled" });
  const size = page.viewportSize();
  await page.setViewportSize({ width: 360, height: 740 });
  await checkWidth(page, view);
  await page.setViewportSize(size);
  await page.emulateMedia({ media: "print" });
  const shown = await page.evaluate(() => [...document.querySelectorAll("header, nav, .bar, dialog")].filter((part) => part.getClientRects().length).length);
  if (shown) wrong.push(`${view}: ${shown} parts of the screen are on paper`);
  await page.emulateMedia({ media: "screen" });
}

/** A picture in light and dark of what does not stand still. */
async function glance(page, view) {
  for (const colorScheme of ["dark", "light"]) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: join(given.out, `${view}-${colorScheme}.png`), fullPage: true });
  }
}

/** A page that is wider than its screen has to be scrolled sideways. */
async function checkWidth(page, view) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  if (wide > 0) wrong.push(`${view} is ${wide} pixels too wide`);
}

async function ask(page, question) {
  await page.keyboard.press("Escape");
  await page.getByLabel("Question", { exact: true }).fill(question);
  await page.keyboard.press("Enter");
}

const tests = {
  async "a question is asked with the keyboard, and answered with rows, a chart and its statement"() {
    const page = await open("rules");
    // Whoever comes with nothing but the link sees what there is to ask about.
    await page.getByRole("navigation", { name: "Tables" }).getByRole("link", { name: "customers", exact: true }).waitFor();
    await page.locator("body").press("/");
    assert.equal(await page.evaluate(() => document.activeElement.id), "question");
    await page.keyboard.type("How many customers are there in each country?");
    await page.keyboard.press("Enter");
    await page.getByText("Answered.").waitFor();
    assert.match(page.url(), /#\/ask\/[0-9a-f]{16}$/);
    assert.match(await page.locator(".confidence").innerText(), /confidence 0\.\d\d/);
    const rows = page.locator(".rows tbody tr");
    assert.equal(await rows.count(), 3);
    // Sorted by the keyboard, both ways and back.
    const numbers = async () => (await page.locator(".rows tbody td.number").allInnerTexts()).map(Number);
    const header = page.locator(".rows thead button").last();
    await header.press("Enter");
    assert.deepEqual(await numbers(), [1, 1, 2]);
    await header.press("Enter");
    assert.deepEqual(await numbers(), [2, 1, 1]);
    // A chart that fits, and only what fits is offered.
    const chart = page.getByRole("region", { name: "Chart", exact: true });
    assert.match(await chart.getByRole("img").getAttribute("aria-label"), /^bar chart of .*, 3 values from 1 to 2$/);
    assert.deepEqual(await chart.locator("select").first().locator("option").allTextContents(), ["bar"]);
    await see(page, "answer");
    // Saved as files.
    for (const [name, file] of [["CSV", "rows.csv"], ["Parquet", "rows.parquet"]]) {
      const saved = page.waitForEvent("download");
      await page.getByRole("button", { name, exact: true }).click();
      assert.equal((await saved).suggestedFilename(), file);
    }
    // The statement is edited and run again; it cannot write.
    await page.getByText("The statement", { exact: true }).click();
    const sql = page.getByLabel("SQL of the answer").locator("textarea");
    await sql.fill("DELETE FROM customers");
    await sql.press("Control+Enter");
    await page.getByRole("alert").getByText("denied").waitFor();
    await sql.fill("SELECT name, price FROM products ORDER BY price");
    await sql.press("Control+Enter");
    await page.getByText("lamp").first().waitFor();
    // The address alone leads to the same answer, in another tab of the session.
    const other = await page.context().newPage();
    await other.goto(page.url());
    await other.getByText("Answered.").waitFor();
    await page.context().close();
  },

  async "a question back shows its choices, and one of them answers it"() {
    const page = await open("rules");
    await ask(page, "Who is the biggest customer?");
    const back = page.getByRole("region", { name: "A question back" });
    await back.waitFor();
    await see(page, "clarify");
    const before = page.url();
    await back.getByRole("button").first().click();
    await page.waitForURL((url) => url.href !== before);
    await page.getByText("Answered.").waitFor();
    assert.equal(await page.getByRole("navigation", { name: "Questions of this tab" }).getByRole("link").count(), 2);
    // Opened anew, it still says what it rests on.
    await page.reload();
    await page.getByText("Answered.").waitFor();
    await page.getByRole("article").getByText(/^By what is .* measured\?/).waitFor();
    await page.context().close();
  },

  async "the search graph grows, and says why candidates were dropped"() {
    const page = await open("model");
    await ask(page, "How many customers are there in France?");
    const graph = page.getByRole("img", { name: /^Search graph/ });
    await graph.waitFor();
    await page.locator(".task.running").first().waitFor();
    await glance(page, "searching");
    const label = () => graph.getAttribute("aria-label");
    const first = await label();
    await page.waitForFunction((first) => document.querySelector(".graph")?.getAttribute("aria-label") !== first, first);
    await page.getByText("Answered.").waitFor();
    await page.getByText(/^The search: 2 tasks/).click();
    await see(page, "graph");
    await page.context().close();
  },

  async "runs are filtered, shown, and laid side by side"() {
    const page = await open("rules");
    for (const question of ["How many products are there?", "How many orders are there?"]) {
      await ask(page, question);
      await page.locator(".question").getByText(question).waitFor();
      await page.getByText("Answered.").waitFor();
    }
    await page.locator("h1").press("g");
    await page.locator("body").press("r");
    await page.getByRole("heading", { name: "Runs" }).waitFor();
    const lines = page.locator("main tbody tr");
    await lines.first().waitFor();
    await see(page, "runs");
    await page.getByLabel("Question").fill("PRODUCTS");
    await page.keyboard.press("Enter");
    await page.waitForURL(/question=PRODUCTS/);
    await page.waitForFunction(() => [...document.querySelectorAll("main tbody tr")].every((line) => line.innerText.includes("products")));
    await page.getByRole("link", { name: "How many products are there?" }).first().click();
    await page.getByRole("heading", { name: "Trace" }).waitFor();
    await page.getByText(/^The search: 1 task/).waitFor();
    await see(page, "trace");
    await page.goBack();
    await page.getByLabel("Question").fill("");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.querySelectorAll("main tbody tr").length > 1);
    await lines.nth(0).getByRole("checkbox").check();
    await lines.nth(1).getByRole("checkbox").check();
    await page.getByRole("button", { name: "Compare two" }).click();
    await page.getByRole("heading", { name: "Two runs" }).waitFor();
    await page.getByText("They were not asked the same question.").waitFor();
    await see(page, "compare");
    await page.context().close();
  },

  async "a comparison shows its sentence, its flipped questions and every answer"() {
    const page = await open("rules");
    await page.goto(`${new URL(page.url()).origin}/#/evaluations`);
    await see(page, "evaluations");
    await page.getByRole("link", { name: "suite.jsonl" }).click();
    await page.locator(".sentence").getByText("simulated").waitFor();
    await page.getByText(/points \(95 %: /).waitFor();
    await page.getByText("60 rows").waitFor();
    await page.locator("figure img").first().waitFor();
    await see(page, "evaluation");
    await page.getByLabel("Verdict").selectOption("wrong");
    const rows = await page.getByText(/^\d+ rows?$/).innerText();
    assert.notEqual(rows, "60 rows");
    await page.getByText(/^Flipped questions: /).click();
    await page.locator(".tasks summary").first().click();
    await page.getByRole("link", { name: /^Trace of/ }).first().click();
    await page.getByRole("heading", { name: "Trace" }).waitFor();
    await page.getByText(/^The search: /).first().waitFor();
    await page.context().close();
  },

  async "a thousand answers are shown and sorted"() {
    const link = await freshLink("many");
    const page = await watch(`${new URL(link).origin}/`);
    await page.goto(link);
    await page.getByRole("heading", { name: "Ask", exact: true }).waitFor();
    const { runs } = await page.evaluate(() => fetch("/api/v1/evaluations").then((response) => response.json()));
    const other = await page.context().newPage();
    const began = Date.now();
    await other.goto(`${new URL(link).origin}/#/evaluations/${runs[0].run}`);
    await other.getByText("1000 rows").waitFor();
    await other.locator(".rows thead button").nth(1).click();
    await other.locator('.rows th[aria-sort="ascending"]').waitFor();
    console.log(`a thousand answers: ${Date.now() - began} ms`);
    // Only the rows in view are in the document, so that their number costs nothing.
    const inDocument = await other.locator(".rows tbody tr").count();
    assert.ok(inDocument < 100, `${inDocument} rows are in the document`);
    await page.context().close();
  },

  async "a comparison is begun with the keyboard alone, watched, and reported"() {
    const page = await open("rules");
    await page.locator("h1").press("g");
    await page.locator("body").press("e");
    await page.getByRole("link", { name: "Compare strategies" }).press("Enter");
    await page.getByRole("heading", { name: "Compare strategies" }).waitFor();
    const start = page.getByRole("button", { name: "Compare", exact: true });
    await page.getByText("Choose another strategy.").waitFor();
    assert.ok(await start.isDisabled(), "one strategy is no comparison");
    await page.getByRole("checkbox", { name: /^single / }).press("Space");
    await page.getByText(/^60 searches; at most /).waitFor();
    await page.getByLabel("Stop after model calls").fill("500");
    await see(page, "compare-start");
    await start.press("Enter");
    await page.getByRole("heading", { name: "Evaluation", exact: true }).waitFor();
    await page.getByText(/^\d+ of 60 answers/).waitFor();
    await page.getByText(/^60 of 60 answers/).waitFor();
    await page.locator(".sentence").first().waitFor();
    await page.getByText("60 rows").waitFor();
    assert.equal(await page.getByRole("button", { name: "Stop" }).count(), 0, "it has ended");
    // A deep link leads to the same report.
    const other = await page.context().newPage();
    await other.goto(page.url());
    await other.locator(".sentence").first().waitFor();
    await page.context().close();
  },

  async "a comparison that runs is watched and stopped"() {
    const page = await open("model");
    await page.goto(`${new URL(page.url()).origin}/#/evaluations/new`);
    await page.getByRole("checkbox", { name: /^single / }).check();
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    const stop = page.getByRole("button", { name: "Stop", exact: true });
    await stop.waitFor();
    await page.getByRole("progressbar", { name: "Answers" }).waitFor();
    await glance(page, "comparing");
    await stop.click();
    await page.getByRole("alert").getByText("interrupted").first().waitFor();
    await page.getByRole("link", { name: "Compare again" }).waitFor();
    await page.context().close();
  },

  async "a question goes on from the one before, until that is forgotten"() {
    const page = await open("metrics");
    await ask(page, "orders in 2024");
    await page.getByText("Understood: orders, in 2024").waitFor();
    await ask(page, "and by status?");
    await page.getByText("Understood: orders by status, in 2024").waitFor();
    const talk = page.getByRole("list", { name: "The conversation so far" });
    assert.match(await talk.innerText(), /orders in 2024\s+Understood: orders, in 2024/);
    await see(page, "conversation");
    // After a new load of the page, it still goes on.
    await page.reload();
    await page.getByText("Understood: orders by status, in 2024").waitFor();
    await ask(page, "why?");
    await page.locator(".sentence").getByText("The definition of orders gives it").waitFor();
    await ask(page, "\\new");
    await page.waitForURL(/#\/ask$/);
    assert.equal(await page.getByRole("button", { name: "New conversation" }).count(), 0);
    await ask(page, "and by status?");
    await page.getByText("No acceptable answer was found.").waitFor();
    await page.context().close();
  },

  async "a page of a trace stands alone, in a file, and asks for nothing"() {
    const page = await watch(pathToFileURL(given.alone).href);
    await page.goto(pathToFileURL(given.alone).href);
    await page.getByRole("heading", { name: "Trace" }).waitFor();
    await page.getByText(/^The search: 2 tasks/).waitFor();
    await page.getByRole("img", { name: /^Time line of \d+ calls/ }).waitFor();
    await page.getByRole("img", { name: /^Search graph/ }).waitFor();
    assert.match(await page.title(), /How many French customers are there\?/);
    assert.equal(await page.getByRole("button", { name: /^(CSV|Parquet|Run|Reload)$/ }).count(), 0, "nobody would answer");
    await see(page, "alone");
    await page.context().close();
  },

  async "a report stands alone with its pictures"() {
    const page = await watch(pathToFileURL(given.report).href);
    await page.goto(pathToFileURL(given.report).href);
    await page.getByRole("heading", { name: "Comparison of single, retry3" }).waitFor();
    await page.locator(".sentence").getByText("simulated").waitFor();
    const pictures = page.locator("figure img");
    await pictures.first().waitFor();
    assert.ok((await pictures.count()) >= 5, "there are no pictures");
    const drawn = await pictures.evaluateAll((all) => Promise.all(all.map((one) => one.decode().then(() => one.naturalWidth))));
    assert.ok(drawn.every((width) => width > 0), "a picture is not drawn");
    assert.equal(await page.getByRole("link").count(), 0, "there is nothing to open");
    await see(page, "report");
    await page.context().close();
  },

  async "a report on an optimized statement stands alone, before and after side by side"() {
    const page = await watch(pathToFileURL(given.optimized).href);
    await page.goto(pathToFileURL(given.optimized).href);
    await page.getByRole("heading", { name: /^Optimized: / }).waitFor();
    await page.locator(".sentence").getByText(/ × faster /).waitFor();
    await page.getByRole("region", { name: "Before" }).first().getByText("SELECT").waitFor();
    await page.getByRole("region", { name: "After" }).first().getByText("SELECT").waitFor();
    await page.locator("figure img").first().waitFor();
    assert.ok(await page.locator("figure img").first().evaluate((one) => one.decode().then(() => one.naturalWidth > 0)));
    await see(page, "optimized");
    await page.context().close();
  },

  async "hostile texts change nothing in a page that stands alone"() {
    const page = await watch(pathToFileURL(given.hostile).href);
    await page.goto(pathToFileURL(given.hostile).href);
    await page.getByRole("heading", { name: "Trace" }).waitFor();
    await page.locator(".question").getByText("</script><script>window.hit=1</script>").waitFor();
    assert.equal(await page.evaluate(() => window.hit), undefined);
    assert.equal(await page.locator("main img, main script, main iframe").count(), 0);
    await see(page, "alone-hostile");
    await page.context().close();
  },

  async "the other views show their subjects"() {
    const page = await open("rules");
    for (const [key, heading, text] of [["s", "Schema", "customers"], ["q", "Statement", "Ctrl+Enter"], ["p", "Plugins", "planner"], ["d", "Set-up", "database"]]) {
      await page.locator("body").press("g");
      await page.locator("body").press(key);
      await page.getByRole("heading", { name: heading, exact: true }).waitFor();
      await page.locator("main").getByText(text).first().waitFor();
      await see(page, heading.toLowerCase());
    }
    await page.locator("body").press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await checkNames(page, "keys");
    await page.context().close();
  },

  async "ten thousand rows are there within a second, and few of them in the document"() {
    const page = await open("rules");
    await page.goto(`${new URL(page.url()).origin}/#/sql`);
    const sql = page.getByLabel("SQL").locator("textarea");
    await sql.fill("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9999) SELECT i, i * i % 97 AS rest, 'row ' || i AS name FROM n");
    const answered = page.waitForResponse(/\/api\/v1\/sql/);
    await sql.press("Control+Enter");
    await (await answered).finished();
    const began = Date.now();
    await page.getByText("9999 rows").waitFor();
    await page.locator(".rows thead button").nth(1).click();
    await page.locator(".rows tbody td").first().waitFor();
    const took = Date.now() - began;
    assert.ok(took < 1000, `${took} ms`);
    assert.ok((await page.locator(".rows tbody tr").count()) < 100);
    await page.locator(".rows").evaluate((rows) => rows.scrollTo(0, rows.scrollHeight));
    await page.waitForFunction(() => document.querySelector(".rows tbody tr:last-child")?.getAttribute("aria-rowindex") === "10000");
    // On paper there are more.
    await page.emulateMedia({ media: "print" });
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    await page.waitForFunction(() => document.querySelectorAll(".rows tbody tr").length >= 1000);
    await page.context().close();
  },

  async "a new link works in the tab in which the page is open"() {
    const page = await open("rules");
    await page.context().clearCookies();
    await page.goto(await freshLink("rules"));
    await page.getByRole("heading", { name: "Ask", exact: true }).waitFor();
    await ask(page, "How many customers are there?");
    await page.getByText("Answered.").waitFor();
    await page.context().close();
  },

  async "numbers keep their digits, are sorted by their value, and are drawn"() {
    const page = await open("rules", { timezoneId: "Asia/Tokyo" });
    await page.goto(`${new URL(page.url()).origin}/#/sql`);
    const sql = page.getByLabel("SQL").locator("textarea");
    const run = async (text) => {
      await sql.fill(text);
      const answered = page.waitForResponse(/\/api\/v1\/sql/);
      await sql.press("Control+Enter");
      await (await answered).finished();
    };
    const cells = (column) => page.locator(`.rows tbody td:nth-child(${column})`).allInnerTexts();
    // Neighbours that are one number of the browser, and text of digits in a cell.
    await run("SELECT 9007199254740993 AS big, '{\"a\": 9007199254740993}' AS text UNION ALL SELECT 9007199254740992, 'x' UNION ALL SELECT -9223372036854775808, 'y'");
    await page.getByText("3 rows").waitFor();
    await page.locator(".rows thead button").first().click();
    assert.deepEqual(await cells(1), ["-9223372036854775808", "9007199254740992", "9007199254740993"]);
    assert.deepEqual(await cells(2), ["y", "x", '{"a": 9007199254740993}']);
    // Decimal numbers come as texts.
    await run("SELECT 'a' AS name, '10.50' AS price UNION ALL SELECT 'b', '9.50' UNION ALL SELECT 'c', '-100.00'");
    await page.getByRole("img", { name: "bar chart of price by name, 3 values from -100 to 10.5" }).waitFor();
    await page.locator(".rows thead button").nth(1).click();
    assert.deepEqual(await cells(2), ["-100.00", "9.50", "10.50"]);
    // Digits may be names.
    await run("SELECT 'a' AS name, '1010' AS zip UNION ALL SELECT 'b', '8010'");
    await page.getByText("2 rows").waitFor();
    assert.equal(await page.getByRole("region", { name: "Chart", exact: true }).count(), 0);
    // What was chosen for the chart and the order of other columns is forgotten.
    await run("SELECT 1 AS a, 5 AS b, 7 AS c UNION ALL SELECT 2, 6, 9");
    const chart = page.getByRole("region", { name: "Chart", exact: true });
    await chart.locator("select").nth(1).selectOption({ label: "a" });
    await chart.locator("select").nth(2).selectOption({ label: "b" });
    await page.locator(".rows thead button").nth(2).click();
    await run("SELECT '2024-01-01 00:30:00' AS day, 3 AS n UNION ALL SELECT '2024-01-03 00:30:00', 4");
    await page.getByRole("img", { name: "line chart of n by day, 2 values from 3 to 4" }).waitFor();
    assert.equal(await page.locator('.rows th[aria-sort="ascending"]').count(), 0);
    // A time without a zone is drawn as it stands, wherever the reader is.
    assert.deepEqual((await chart.locator("svg text").allTextContents()).filter((text) => text.startsWith("202")), ["2024-01-01", "2024-01-02", "2024-01-03"]);
    // Rows of another statement do not stand below an error.
    await run("SELECT nothing");
    await page.getByRole("alert").waitFor();
    assert.equal(await page.locator(".rows").count(), 0);
    await page.context().close();
  },

  async "narrow screens need no scrolling sideways"() {
    const page = await open("rules", { viewport: { width: 320, height: 640 } });
    await ask(page, "What are the names of all customers?");
    await page.getByText("Answered.").waitFor();
    for (const view of ["", "runs", "evaluations", "evaluations/new", "schema", "sql", "plugins", "doctor"]) {
      if (view) await page.goto(`${new URL(page.url()).origin}/#/${view}`);
      await page.waitForTimeout(300);
      await checkWidth(page, view || "answer");
      await checkNames(page, `${view || "answer"} on a narrow screen`);
      await glance(page, `narrow-${view.replace("/", "-") || "answer"}`);
    }
    await page.context().close();
  },

  async "hostile names and cells change nothing"() {
    const page = await open("hostile");
    const origin = new URL(page.url()).origin;
    await ask(page, '<img src=x onerror="window.hit=1"><script>window.hit=1</script>');
    await page.getByText(/The search failed|No acceptable answer|made clear|Answered/).first().waitFor();
    await page.goto(`${origin}/#/schema`);
    await page.getByText("<img src=x onerror=window.hit=1>").first().waitFor();
    await page.goto(`${origin}/#/sql`);
    const sql = page.getByLabel("SQL").locator("textarea");
    await sql.fill('SELECT * FROM "<img src=x onerror=window.hit=1>"');
    await sql.press("Control+Enter");
    await page.getByText("5 rows").waitFor();
    // A cell of a megabyte is cut in its row, and more of it is shown on request.
    await page.locator("button.cell").first().click();
    await page.getByRole("dialog", { name: "A whole cell" }).waitFor();
    const shown = await page.getByRole("region", { name: "The cell" }).innerText();
    assert.ok(shown.length > 20 && shown.length <= 20_001, String(shown.length));
    await page.keyboard.press("Escape");
    await see(page, "hostile");
    // In a name that is no text of the page but of a list, it is spelled.
    await page.goto(`${origin}/#/evaluations/new`);
    await page.locator("select option").first().waitFor({ state: "attached" });
    const names = await page.locator("select").first().locator("option").allTextContents();
    assert.deepEqual(names, ["<img src=x onerror=window.hit=1>\\u{202e}.jsonl (1 question)"]);
    await page.goto(`${origin}/#/sql?sql=${encodeURIComponent('SELECT * FROM "<img src=x onerror=window.hit=1>"')}`);
    await sql.press("Control+Enter");
    await page.getByText("5 rows").waitFor();
    // A character that turns the direction stays within its own cell.
    const isolated = await page.locator(".rows td bdi").evaluateAll((cells) => cells.every((cell) => getComputedStyle(cell).unicodeBidi === "isolate"));
    assert.ok(isolated);
    // One of 10 MB is more than a result may have, and the page says so.
    await sql.fill("SELECT cell FROM huge");
    await sql.press("Control+Enter");
    await page.getByRole("alert").getByText("limit").waitFor();
    for (const odd of ["#/runs/%3Cscript%3E", "#/ask/../../x", "#/compare/a/%ff", "#/%00", "#/sql?sql=%3Cimg%20src%3Dx%20onerror%3D%22window.hit%3D1%22%3E"]) {
      await page.goto(`${origin}/${odd}`);
      await page.waitForTimeout(150);
    }
    assert.equal(await page.evaluate(() => window.hit), undefined);
    assert.equal(await page.locator("main img, main script, main iframe").count(), 0);
    await page.context().close();
  },

  async "a foreign page reaches nothing"() {
    const page = await open("rules");
    const own = new URL(page.url());
    const server = createServer((request, response) => {
      response.setHeader("content-type", "text/html");
      response.end("<!doctype html><title>foreign</title>");
    });
    await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
    // In the same browser, with the session's cookie in it.
    const context = page.context();
    const foreign = await context.newPage();
    await foreign.goto(`http://127.0.0.1:${server.address().port}/`);
    const results = await foreign.evaluate(async (target) => {
      const tries = {
        read: () => fetch(`${target}/api/v1/schema`, { credentials: "include" }),
        write: () => fetch(`${target}/api/v1/ask`, { method: "POST", credentials: "include", headers: { "content-type": "application/json" }, body: '{"question":"x"}' }),
        blind: async () => {
          await fetch(`${target}/api/v1/ask`, { method: "POST", mode: "no-cors", credentials: "include", body: '{"question":"blind"}' });
          throw new Error("nobody sees the response");
        },
        frame: () =>
          new Promise((_, refuse) => {
            const frame = document.createElement("iframe");
            frame.src = target;
            frame.onload = () => {
              let text = "";
              try {
                text = frame.contentDocument?.body?.innerText ?? "";
              } catch {}
              refuse(new Error(text || "nothing is shown"));
            };
            document.body.append(frame);
          }),
      };
      const found = {};
      for (const [name, attempt] of Object.entries(tries)) {
        try {
          found[name] = `reached: ${(await attempt()).status}`;
        } catch (error) {
          found[name] = `refused: ${error.message}`;
        }
      }
      return found;
    }, own.origin);
    for (const [name, result] of Object.entries(results)) assert.match(result, /^refused/, `${name}: ${result}`);
    // By another name that leads here, whose pages are of the same origin as that name.
    const rebound = await context.newPage();
    const response = await rebound.goto(`http://evil.example:${own.port}/`);
    assert.equal(response.status(), 421);
    server.close();
    await page.goto(`${own.origin}/#/runs`);
    await page.getByRole("heading", { name: "Runs" }).waitFor();
    await page.waitForTimeout(200);
    assert.equal(await page.getByText("blind").count(), 0);
    await context.close();
  },

  async "a link that was used says so"() {
    const context = await browser.newContext();
    const link = await freshLink("rules");
    const first = await context.newPage();
    await first.goto(link);
    await first.getByRole("heading", { name: "Ask", exact: true }).waitFor();
    assert.ok(!first.url().includes("code="), "the code is not in the history");
    const page = await context.newPage();
    await page.goto(link);
    await page.getByRole("alert").getByText("was used already").waitFor();
    await context.close();
  },
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    await test();
  } catch (error) {
    wrong.push(`${error.stack ?? error}`);
  }
  if (wrong.length) {
    failed += 1;
    console.log(`failed: ${name}\n  ${wrong.splice(0).join("\n  ")}`);
  } else {
    console.log(`passed: ${name}`);
  }
}
await browser.close();
process.exit(failed ? 1 : 0);
