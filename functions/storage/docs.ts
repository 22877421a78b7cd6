import type { GroupDoc } from '../operation-doc.ts'
import { deletePathDoc, deleteRootDoc } from './delete-path.doc.ts'
import { parameters } from './parameters.doc.ts'
import { putPathDoc, putRootDoc } from './put-path.doc.ts'
import { readPathDoc, readRootDoc } from './read-path.doc.ts'
import { uploadDoc } from './upload.doc.ts'

/** What the document says of this group. */
export const storageDoc: GroupDoc<'storage'> = {
  tag: {
    name: 'Files',
    description:
      'The files and folders of a site. The token needs the permission "Can use SFTP & File Manager"; it may come in the query.',
  },
  parameters,
  operations: {
    uploadToFolder: uploadDoc.folder,
    uploadToRoot: uploadDoc.root,
    readRoot: readRootDoc,
    readPath: readPathDoc,
    deletePath: deletePathDoc,
    deleteRoot: deleteRootDoc,
    putPath: putPathDoc,
    putRoot: putRootDoc,
  },
}
