import { StringDecoder } from 'node:string_decoder'
import { mimes } from 'mrmime'
import type { ErrorName } from '../core/errors.ts'
import { isReserved } from './path.ts'

const isBelowTemplates = (path: string) => isReserved(['Templates'], path.slice(0, Math.max(path.indexOf('/'), 0)))

export const isPage = (path: string): boolean => /\.html?$/i.test(path) && !isBelowTemplates(path)

export const isTemplate = (path: string): boolean => /\.(?:html?|dwt)$/i.test(path) && isBelowTemplates(path)

const typeByName = (name: string): string | undefined => {
  const extension = /\.([^.]*)$/.exec(name.toLowerCase())?.[1]?.trim() ?? ''
  return Object.hasOwn(mimes, extension) ? mimes[extension] : undefined
}

/** The type by the extension of the name, or else the declared type (S-35). */
export const contentTypeOf = (name: string, declared?: string): string =>
  typeByName(name) ?? declared ?? 'application/octet-stream'

const plain = /[^\x20-\x7e]|["\\%]/gu

// RFC 8187: some characters that `encodeURIComponent` leaves unchanged must be encoded too.
const encoded = (name: string): string =>
  encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )

/** A header that makes a browser save the file under its name (RFC 6266, appendix D). */
export const asAttachment = (name: string): string => {
  const simple = name.replaceAll(plain, '_')
  const exact = simple === name ? '' : `; filename*=UTF-8''${encoded(name)}`
  return `attachment; filename="${simple}"${exact}`
}

const longestComment = 2_000
const mostRegions = 10_000

const token = new RegExp(
  [
    /<!--\s*TemplateBeginEditable\b(?<attributes>[^>]{0,1000})-->/,
    /(?<end><!--\s*TemplateEndEditable\s*-->)/,
    /(?<tag>\{(?:tag_)?pagecontent\})/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gi',
)

const longestTag = '{tag_pagecontent}'.length

const safeLength = (text: string): number => {
  const comment = text.lastIndexOf('<!--')
  if (comment >= 0 && text.indexOf('-->', comment) < 0 && text.length - comment <= longestComment) return comment
  const brace = text.lastIndexOf('{')
  if (brace >= 0 && text.length - brace < longestTag) return brace
  const opening = text.lastIndexOf('<')
  return opening >= 0 && text.length - opening < '<!--'.length ? opening : text.length
}

const nameIn = (attributes: string): string => {
  const [, double, single] = /\bname\s*=\s*(?:"([^"]*)"|'([^']*)')/i.exec(attributes) ?? []
  return (double ?? single ?? '').trim()
}

type TemplateFault = Extract<ErrorName, 'regionNameInvalid' | 'tagOutsideRegions' | 'tagMissing'>

export const templateFault = async (content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) => {
  const check = createTemplateCheck()
  for await (const chunk of content) check.write(chunk)
  return check.end()
}

/**
 * Checks that the tag is in an editable region, if there are regions, and that regions have unique names (S-22 to
 * S-25). Reads the bytes while they pass, so that a large template needs no memory.
 */
export const createTemplateCheck = () => {
  const decoder = new StringDecoder('utf8')
  const names = new Set<string>()
  let rest = ''
  let namesValid = true
  let inRegion = false
  let tagFound = false
  let tagInRegion = false

  const read = (text: string) => {
    for (const { groups } of text.matchAll(token)) {
      if (groups?.['tag'] !== undefined) {
        tagFound = true
        tagInRegion ||= inRegion
      } else if (groups?.['end'] !== undefined) {
        inRegion = false
      } else {
        const name = nameIn(groups?.['attributes'] ?? '')
        namesValid &&= name !== '' && !names.has(name) && names.size < mostRegions
        names.add(name)
        inRegion = true
      }
      if (!namesValid) return
    }
  }

  return {
    write(chunk: Uint8Array): void {
      if (!namesValid) return
      const text = rest + decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))
      const length = safeLength(text)
      read(text.slice(0, length))
      rest = text.slice(length)
    },

    end(): TemplateFault | undefined {
      if (namesValid) read(rest + decoder.end())
      if (!namesValid) return 'regionNameInvalid'
      if (names.size > 0 && !tagInRegion) return 'tagOutsideRegions'
      return tagFound ? undefined : 'tagMissing'
    },
  }
}
