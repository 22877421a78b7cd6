import { expect } from 'vitest'
import { connect } from '../../client/src/index.ts'
import { all, test } from './support/site.ts'

const textOf = async (response: Promise<Response>): Promise<string> => (await response).text()

test('a file is replaced only if it is unchanged since it was read (T-34)', async ({ client: { files }, folder }) => {
  const path = `${folder}/ü #1?.txt`
  await files.put(path, 'one')
  await expect(files.put(path, 'two')).rejects.toMatchObject({ status: 412, code: 100412 })
  const { etag } = await files.stat(path)
  await files.put(path, 'two', { replace: etag ?? '' })
  await expect(files.put(path, 'three', { replace: etag ?? '' })).rejects.toMatchObject({ status: 412 })
  await files.put(path, new TextEncoder().encode('four'), { replace: true })
  expect(await textOf(files.read(path))).toBe('four')
  expect(await textOf(files.read(path, { range: { first: 1, last: 2 } }))).toBe('ou')
  expect(await all(files.versions(path))).toHaveLength(3)
  const folders: string[] = []
  await all(files.list(folder.toUpperCase(), (own) => folders.push(own)))
  expect(folders).toEqual([folder])
})

test('calls that no address or header can carry are refused', async ({ client: { access, files }, folder }) => {
  const path = `${folder}/a.txt`
  await files.put(path, 'one')
  for (const range of [{ first: 2, last: 1 }, { first: -1 }, { first: 0.5 }])
    await expect(files.read(path, { range })).rejects.toMatchObject({ status: 416, code: 100416 })
  for (const name of ['', '.', '..'])
    await expect(access.people.get(name)).rejects.toMatchObject({ status: 400, code: 104015 })
  for (const list of [files.list(path), files.listAll(path)])
    await expect(all(list)).rejects.toMatchObject({ status: 400, code: 104000 })
})

test('the refusal to overwrite a file says how to replace it', async ({ client: { files }, folder }) => {
  await files.put(`${folder}/a.txt`, 'one')
  for (const content of ['two', new Uint8Array(5_000_000)]) {
    await expect(files.put(`${folder}/a.txt`, content)).rejects.toMatchObject({
      status: 412,
      code: 100412,
      message: `"${folder}/a.txt" already exists. Pass replace: true to replace it, or the etag of the file to replace only that state.`,
      requestId: expect.stringMatching(/^[\da-f-]{36}$/),
    })
  }
  await expect(files.put(folder, 'a file', { replace: true })).rejects.toMatchObject({
    status: 412,
    message: expect.stringContaining(`"${folder}" is a folder`),
  })
  expect(await textOf(files.read(`${folder}/a.txt`))).toBe('one')
})

test('a large file is stored in a new folder of the same name (S-34)', async ({ client: { files }, folder }) => {
  const paths = ['Sub/a', 'sub/tool/tool', 'sub/tool/x/x', 'cafe\u0301/caf\u00e9'].map((path) => `${folder}/${path}`)
  for (const path of [...paths, ...paths]) await files.put(path, new Uint8Array(5_000_000), { replace: true })
  for (const path of paths) expect(await files.stat(path)).toMatchObject({ type: 'file', size: 5_000_000 })
})

test('a small file of a multipart type is stored whole (S-47)', async ({ client: { files }, folder }) => {
  const path = `${folder}/page.mhtml`
  await files.put(path, 'saved', { contentType: 'Multipart/related; boundary=b' })
  expect(await textOf(files.read(path))).toBe('saved')
})

test('removed entries are listed, and a link needs no token', async ({ client: { files }, folder }) => {
  await files.put(`${folder}/a/one.txt`, 'one')
  await files.put(`${folder}/b.txt`, 'two')
  await files.remove(`${folder}/a`)
  expect((await all(files.deleted(folder))).map(({ name }) => name)).toStrictEqual(['a'])
  expect(await files.progress()).toBe(100)
  const { url } = await files.link(`${folder}/b.txt`)
  expect(await textOf(fetch(url))).toBe('two')
})

test('an upload that the service no longer knows starts again', async ({ client: { files }, folder }) => {
  let upload = ''
  const crash = new AbortController()
  const content = new Blob([new Uint8Array(5_000_000)])
  const onBegun = (address: string) => {
    upload = address
    crash.abort(new Error('crash'))
  }
  await expect(files.put(`${folder}/a.bin`, content, { signal: crash.signal, onBegun })).rejects.toThrow('crash')
  await files.cancel(upload)
  await files.cancel(upload)
  await files.put(`${folder}/a.bin`, content, { resume: upload })
  expect(await files.stat(`${folder}/a.bin`)).toMatchObject({ size: 5_000_000 })
})

test.for(['begins', 'sends'])('a put stopped when it %s leaves no upload (T-33)', async (when, { service, folder }) => {
  const { baseUrl: url, token } = service
  const stopping = new AbortController()
  const stop = () => stopping.abort(new Error('stopped'))
  let upload = ''
  const { files } = await connect({
    url,
    token,
    signal: stopping.signal,
    async fetch(url, init) {
      const response = await fetch(url, init)
      upload ||= response.headers.get('Location') ?? ''
      if (when === 'begins' && upload) stop()
      init?.signal?.throwIfAborted()
      return response
    },
  })
  await expect(files.put(`${folder}/a.bin`, new Uint8Array(5_000_000), { onProgress: stop })).rejects.toThrow('stopped')
  const headers = { Authorization: token, 'Tus-Resumable': '1.0.0' }
  expect((await fetch(upload, { method: 'HEAD', headers })).status).toBe(404)
})

test('fields are added and removed, and changed only if nobody else did so first', async ({ client: { forms } }) => {
  const [form] = await all(forms.list())
  const id = form?.id ?? 0
  expect(await forms.get(id)).toStrictEqual(form)
  expect(await all(forms.types())).toContainEqual({ id: -7, name: 'CustomerDOB' })
  expect(await forms.add(id, { type: -7, mandatory: true })).toBe(-7)
  await expect(forms.add(id, { type: -7, mandatory: true })).rejects.toMatchObject({ code: 115006 })
  const field = await forms.field(id, -7)
  await forms.change(id, -7, { mandatory: false }, field)
  await expect(forms.change(id, -7, { mandatory: true }, field)).rejects.toMatchObject({ status: 412 })
  await forms.change(id, -7, { order: 1 })
  expect((await all(forms.fields(id)))[0]).toMatchObject({ id: -7, mandatory: false, order: 1 })
  await expect(forms.change(id, -7, { order: 0 })).rejects.toMatchObject({ code: 115000, errors: [{ path: 'order' }] })
  await expect(forms.remove(id, -7, field)).rejects.toMatchObject({ status: 412 })
  await forms.remove(id, -7)
  await expect(forms.field(id, -7)).rejects.toMatchObject({ code: 115002 })
  await expect(forms.remove(id, -7, field)).rejects.toMatchObject({ code: 115002 })
})

test('categories and blogs are read, and a refused link names the wrong id', async ({ client: { categories } }) => {
  expect(await categories.get(3)).toMatchObject({ id: 3, name: 'Events' })
  expect((await all(categories.blogs.list())).length).toBeGreaterThan(0)
  const unknown = categories.blogs.link(1, [999])
  await expect(unknown).rejects.toMatchObject({ code: 220002, errors: [{ path: 'items[0].objectId' }] })
})
