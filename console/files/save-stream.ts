import { saveBlob } from './download.ts'

/** In bytes. */
export const mostInMemory = 500_000_000

type Pick = (options: { readonly suggestedName: string }) => Promise<FileSystemFileHandle>

/**
 * Undefined if the browser cannot let this page write to a file of the device. Some browsers never can, and the others
 * need https or this machine.
 */
const picker = (): Pick | undefined => Reflect.get(globalThis, 'showSaveFilePicker')

export const canStream = (): boolean => picker() !== undefined

const isDismissed = (error: unknown): boolean => error instanceof DOMException && error.name === 'AbortError'

/** The dialog of the browser has created a new file, which is still empty. */
const removeEmpty = async (handle: FileSystemFileHandle): Promise<void> => {
  if ((await handle.getFile()).size > 0) return
  await Reflect.get(handle, 'remove')?.call(handle)
}

/**
 * Saves a stream as a file of the device. The file appears only when it is complete. Returns false if the user closes
 * the dialog of the browser. Call this directly after a click: browsers open the dialog only then.
 */
export const saveStream = async (
  suggestedName: string,
  open: () => ReadableStream<Uint8Array>,
  signal: AbortSignal,
): Promise<boolean> => {
  const pick = picker()
  if (!pick) {
    saveBlob(await new Response(open()).blob(), suggestedName)
    return true
  }
  let handle: FileSystemFileHandle
  try {
    handle = await pick({ suggestedName })
  } catch (error) {
    if (isDismissed(error)) return false
    throw error
  }
  try {
    await open().pipeTo(await handle.createWritable(), { signal })
  } catch (error) {
    await removeEmpty(handle).catch(() => {})
    throw error
  }
  return true
}
