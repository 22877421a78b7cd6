import { lstatSync, mkdirSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// O-12: keeps compiled code between starts. Code that another user wrote would run with the rights of this user.
const folder = join(tmpdir(), `site-admin-${process.getuid?.()}`)
try {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const found = lstatSync(folder)
  const isPrivate = found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0
  if (isPrivate) enableCompileCache(folder)
} catch {}
