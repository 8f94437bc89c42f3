package capture

import (
	"strings"

	"rollcall/shared/capture/filename"
)

// fileName is the name of a file, without .json, of an operation and its keys.
func fileName(operation string, keys ...string) string { return filename.Of(operation, keys...) }

// plainName is the name with the dots of its keys left as they are, as a
// person may have written it by hand. It is looked for second.
func plainName(operation string, keys ...string) string {
	for i, k := range keys {
		keys[i] = strings.ReplaceAll(k, "/", "__")
	}
	return strings.Join(append([]string{operation}, keys...), ".")
}

// tidyName is a name as the index of files keeps it. Slashes occur in the keys
// of errors.json, whose author may not have escaped them.
func tidyName(name string) string {
	name = strings.TrimSuffix(name, ".json")
	return strings.NewReplacer("%2e", "%2E", "/", "__").Replace(name)
}

// splitName is the operation and the keys of a file's name. A key that holds
// "__" of its own comes out with a slash: for listing names that hold none.
func splitName(name string) (operation string, keys []string) {
	parts := strings.Split(name, ".")
	for _, k := range parts[1:] {
		keys = append(keys, strings.NewReplacer("%2E", ".", "__", "/").Replace(k))
	}
	return parts[0], keys
}
