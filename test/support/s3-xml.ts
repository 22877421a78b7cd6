const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const unescapeXml = (text: string) =>
  text.replace(/&(?:#x([0-9a-f]+)|(\w+));/gi, (_, hex?: string, name = '') =>
    hex ? String.fromCodePoint(Number.parseInt(hex, 16)) : (entities[name] ?? ''),
  )
const escapeXml = (text: string) =>
  text.replace(/[&<>"']/g, (character) => `&#x${character.charCodeAt(0).toString(16)};`)
/** Keys encoded as with `encoding-type=url`. */
export const urlEncoded = (key: string) => encodeURIComponent(key).replaceAll('%2F', '/').replaceAll('%20', '+')
export const tag = (name: string, text: string | number) => `<${name}>${escapeXml(String(text))}</${name}>`
export const allOf = (xml: string, name: string) =>
  [...xml.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs'))].map(([, inside = '']) => inside)
export const textIn = (xml: string, name: string) => unescapeXml(allOf(xml, name)[0] ?? '')
