import { layoutOf } from '../../../lib/machine/directory/data-directory.ts'
import { makeDirectory, removeDirectory } from '../../support/directory.ts'
import { keptContents } from '../../support/kept-contents.ts'
import { openLocalFiles } from '../../support/local-files.ts'
import { describeObjectStore } from './object-store.suite.ts'

const variants = [
  ['safe from power cuts', { durable: true }],
  ['without fsync, with every content in a file', { durable: false, smallContent: -1, mostWaiting: 0 }],
] as const

for (const [name, options] of variants) {
  describeObjectStore(
    `The object store of one machine, ${name}`,
    async () => {
      const folder = makeDirectory()
      const { files, close } = openLocalFiles(folder, options)
      return {
        store: files,
        leftovers: async () => keptContents(layoutOf(folder)).leftovers.length,
        async close() {
          close()
          removeDirectory(folder)
        },
      }
    },
    options.durable,
  )
}
