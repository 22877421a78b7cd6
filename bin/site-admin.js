#!/usr/bin/env node
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

// This file runs on any Node that runs npm: it finds the program, and the Node that the program needs.

/**
 * A clone runs the sources. The package has only the built program, because Node strips no types from installed files.
 */
const sources = new URL('../admin/main.js', import.meta.url)
const entry = existsSync(new URL('../admin/program.ts', import.meta.url))
  ? sources
  : new URL('../dist/main.js', import.meta.url)

const wanted = 24
const args = process.argv.slice(2)
const flagsOfService = ['--max-semi-space-size=2', '--heap-growing-percent=300']

/** The Node of the package; undefined if it has none for this machine. */
const findNode = () => {
  try {
    const file = createRequire(import.meta.url).resolve(`node-${process.platform}-${process.arch}/bin/node`)
    return existsSync(file) ? file : undefined
  } catch {
    return undefined
  }
}

/** @param {string} node */
const runOn = (node) => {
  const flags = args.includes('serve') ? flagsOfService : []
  const child = spawn(node, [...flags, fileURLToPath(entry), ...args], {
    // The only purpose of the channel is to show that this process still runs.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  })
  const isOnTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY
  /** @type {readonly NodeJS.Signals[]} */
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) {
    // Ctrl+C reaches both processes: a second signal would end the program at once.
    process.on(signal, () => (isOnTerminal && signal === 'SIGINT') || child.kill(signal))
  }
  child.on('exit', (status, signal) => {
    if (signal === null) process.exit(status ?? 1)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}

const node = Number(process.versions.node.split('.')[0]) === wanted ? process.execPath : findNode()
if (node === undefined) {
  console.error(
    `site-admin needs Node ${wanted}, and its package has no Node for ${process.platform} on ${process.arch}. ` +
      `This is Node ${process.versions.node}: install Node ${wanted}, and run site-admin with it.`,
  )
  process.exitCode = 1
} else if (node === process.execPath && !args.includes('serve')) await import(entry.href)
else runOn(node)
