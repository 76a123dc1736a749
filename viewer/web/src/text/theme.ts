/** How texts look. Colors come from the page's tokens, which reach into the editor's shadow tree. */
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

export const LINE_HEIGHT = 20;

const look = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--ground)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": {
    fontFamily: "var(--mono)",
    fontSize: "13px",
    lineHeight: `${LINE_HEIGHT}px`,
    fontVariantLigatures: "none",
    overscrollBehavior: "contain",
  },
  ".cm-scroller:focus-visible, .cm-content:focus-visible": {
    outline: "2px solid var(--accent)",
    outlineOffset: "-2px",
  },
  ".cm-content": { padding: "4px 0" },
  ".cm-line": { padding: "0 12px 0 4px" },
  ".cm-gutters": {
    backgroundColor: "var(--ground)",
    color: "var(--faint)",
    border: "none",
    fontVariantNumeric: "tabular-nums",
  },
  ".cm-lineNumbers .cm-gutterElement": {
    padding: "0 4px 0 12px",
    whiteSpace: "pre",
    cursor: "pointer",
  },
  ".cm-foldGutter .cm-gutterElement": { width: "16px", textAlign: "center", cursor: "pointer" },
  ".cm-foldPlaceholder": {
    border: "1px solid var(--line)",
    borderRadius: "4px",
    backgroundColor: "var(--raised)",
    color: "var(--quiet)",
    padding: "0 4px",
    margin: "0 4px",
  },
  ".cm-signs .cm-gutterElement": { width: "16px", textAlign: "center", color: "var(--quiet)" },
  ".cm-sign-move": { cursor: "pointer", color: "var(--moved)" },
  ".cm-added": { backgroundColor: "var(--added-ground)" },
  ".cm-removed": { backgroundColor: "var(--removed-ground)" },
  ".cm-moved": { backgroundColor: "var(--moved-ground)" },
  ".cm-filler": {
    backgroundImage: "repeating-linear-gradient(-45deg, transparent 0 5px, var(--hatch) 5px 6px)",
  },
  ".cm-added-word": { backgroundColor: "var(--added-word)", borderRadius: "2px" },
  ".cm-removed-word": { backgroundColor: "var(--removed-word)", borderRadius: "2px" },
  ".cm-lit": { boxShadow: "inset 3px 0 var(--accent)", backgroundColor: "var(--lit)" },
  ".cm-target": { boxShadow: "inset 3px 0 var(--accent)", backgroundColor: "var(--chosen)" },
  ".cm-pinned-row": { boxShadow: "inset 3px 0 var(--pinned)" },
  ".tok-pinned": {
    backgroundColor: "var(--pinned-ground)",
    outline: "1px solid var(--pinned)",
    borderRadius: "2px",
  },
  "&.cm-can-pin :is(.tok-name, .tok-symbol, .tok-variable)": { cursor: "pointer" },
  ":is(.tok-name, .tok-symbol, .tok-variable):hover": {
    textDecoration: "underline",
    textUnderlineOffset: "3px",
  },
  ".tok-keyword": { color: "var(--tok-keyword)" },
  ".tok-type": { color: "var(--tok-type)" },
  ".tok-operation": { color: "var(--tok-operation)" },
  ".tok-symbol": { color: "var(--tok-symbol)" },
  ".tok-string": { color: "var(--tok-string)" },
  ".tok-number, .tok-constant": { color: "var(--tok-number)" },
  ".tok-attribute": { color: "var(--quiet)" },
  ".tok-comment": { color: "var(--quiet)", fontStyle: "italic" },
  ".tok-meta": { color: "var(--quiet)" },
  ".cm-hidden-rows": {
    display: "block",
    width: "100%",
    height: `${LINE_HEIGHT}px`,
    padding: "0 12px",
    border: "0",
    backgroundColor: "var(--raised)",
    color: "var(--quiet)",
    font: "12px/20px var(--sans)",
    textAlign: "start",
    cursor: "pointer",
  },
  ".cm-hidden-rows:hover": { color: "var(--accent)" },
  ".cm-hidden-rows:focus-visible": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  ".cm-heats": { borderRight: "1px solid var(--line)" },
  ".cm-heats .cm-gutterElement": { width: "92px", padding: "0" },
  ".cm-heat": { display: "block", position: "relative", height: "100%", color: "var(--text)" },
  ".cm-heat-bar": {
    position: "absolute",
    insetBlock: "3px",
    left: "0",
    backgroundColor: "var(--heat)",
    borderRadius: "0 2px 2px 0",
  },
  ".cm-heat-label": {
    position: "absolute",
    right: "4px",
    fontSize: "11px",
    fontVariantNumeric: "tabular-nums",
  },
  ".cm-searchMatch": { backgroundColor: "var(--found)" },
  ".cm-searchMatch-selected": { backgroundColor: "var(--found-now)" },
  ".cm-specialChar": { color: "var(--error)" },
});

const C_STYLE = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.controlKeyword], class: "tok-keyword" },
  { tag: [tags.typeName, tags.standard(tags.typeName)], class: "tok-type" },
  {
    tag: [tags.function(tags.variableName), tags.function(tags.definition(tags.variableName))],
    class: "tok-operation",
  },
  { tag: [tags.string, tags.character], class: "tok-string" },
  { tag: [tags.number, tags.bool, tags.null], class: "tok-number" },
  { tag: [tags.lineComment, tags.blockComment], class: "tok-comment" },
  { tag: [tags.meta, tags.processingInstruction], class: "tok-meta" },
  { tag: [tags.variableName, tags.propertyName], class: "tok-variable" },
]);

export const theme: Extension = [look, syntaxHighlighting(C_STYLE)];
