// Package archtest holds the laws of the code as tests: who may talk to whom, and
// what no package may keep. It has nothing else.
package archtest
