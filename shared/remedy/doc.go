// Package remedy changes things in AWS, on what others have decided. It makes
// each change with one call that is never repeated by itself, and says what
// came of it in a way that one can decide on.
package remedy
