import type { Provoked } from '../operation-doc.ts'
import { stage } from './stage.doc.ts'

const boundary = 'a-boundary'

interface ExampleFile {
  /** Undefined where the part does not say that it is a file. */
  readonly name: string | undefined
  readonly content: string
}

const partOf = ({ name, content }: ExampleFile) =>
  `--${boundary}\r\nContent-Disposition: form-data; name="file"${name === undefined ? '' : `; filename="${name}"`}\r\n\r\n${content}\r\n`

/** A body with these files in it. */
export const exampleUpload = (...files: readonly ExampleFile[]) => ({
  headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
  body: `${files.map(partOf).join('')}--${boundary}--\r\n`,
  shown: { file: files.map(({ content }) => content) },
})

/** The same body under the type that the contract names. */
export const asBytes = (file: ExampleFile) => ({
  headers: { 'Content-Type': 'application/octet-stream' },
  body: exampleUpload(file).body,
})

const template = (content: string) => ({
  path: { path: 'Templates' },
  ...exampleUpload({ name: 'main.html', content }),
})
const region = (attributes: string, content: string) =>
  `<!-- TemplateBeginEditable${attributes} -->${content}<!-- TemplateEndEditable -->`

/** A body that is not what its type says. */
export const malformed: Provoked = { storageRefused: { ...exampleUpload(), body: 'Hello' } }

/** What is refused of an upload. */
export const malformedOrRefused: Provoked = {
  ...malformed,
  notAFile: exampleUpload({ name: undefined, content: 'Hello' }),
  nameRequired: exampleUpload({ name: '', content: 'Hello' }),
  regionNameInvalid: template(region('', '{tag_pagecontent}')),
  tagOutsideRegions: template(`${region(' name="main"', '')}{tag_pagecontent}`),
  tagMissing: template('<html></html>'),
  nameTaken: exampleUpload({ name: 'a.txt', content: 'One' }, { name: 'a.txt', content: 'Two' }),
  folderUnknown: { path: { path: stage.file }, ...exampleUpload({ name: 'a.txt', content: 'One' }) },
}
