// Starts dynalite in memory on a free port of this machine and prints the port.
// It ends with its standard input: whatever way its parent ends, it ends too.
'use strict'

const dynalite = require('dynalite')

const server = dynalite({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 })
server.listen(Number(process.argv[2] || 0), '127.0.0.1', () => {
  process.stdout.write(`${server.address().port}\n`)
})
process.stdin.on('end', () => process.exit(0))
process.stdin.on('error', () => process.exit(0))
process.stdin.resume()
