import type { SiteClient } from '../../client/src/index.ts'
import { nameOf } from '../uploads/paths.ts'

const save = (href: string, name: string) => {
  const link = document.createElement('a')
  link.href = href
  link.download = name
  link.rel = 'noopener'
  link.click()
}

/** Downloads files of any size: the browser reads them from a link that needs no token. */
export const download = async (client: SiteClient, paths: readonly string[]): Promise<void> => {
  for (const path of paths) {
    const { url } = await client.files.link(path)
    save(url, nameOf(path))
  }
}

/** Downloads a version of the past. A link leads to the present one alone: its bytes come through the page. */
export const downloadVersion = async (client: SiteClient, path: string, version: string): Promise<void> => {
  const response = await client.files.read(path, { version })
  const url = URL.createObjectURL(await response.blob())
  save(url, nameOf(path))
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
