// Package filename spells the names of a capture's files.
package filename

import "strings"

// Of is the name of a file, without .json, of an operation and its keys. A dot
// parts operation and keys, so a dot inside a key is written %2E; a slash,
// which no file name can hold, is written "__".
func Of(operation string, keys ...string) string {
	var b strings.Builder
	b.WriteString(operation)
	for _, k := range keys {
		b.WriteByte('.')
		b.WriteString(Key(k))
	}
	return b.String()
}

// Key is a key as it stands in a file's name.
func Key(key string) string {
	return strings.NewReplacer("/", "__", ".", "%2E").Replace(key)
}
