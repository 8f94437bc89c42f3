package capture

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// ErrNotRegular: what is to be read is a folder, a link, a pipe or a device.
var ErrNotRegular = errors.New("it is not a regular file")

// ReadRegular reads a regular file below a root, of at most so many bytes. A link is not
// followed, wherever it leads, and a pipe or device is not opened: the folder may come
// from anywhere.
func ReadRegular(root *os.Root, name string, most int64) ([]byte, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, ErrNotRegular
	}
	// It may be another file by now: nothing waits for the other end of a pipe.
	f, err := root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, ErrNotRegular
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > most {
		return nil, fmt.Errorf("it is larger than %d KiB", most>>10)
	}
	return data, nil
}

// FileName is the name of a file, without .json, of an operation and its keys. A dot
// parts operation and keys, so a dot inside a key is written %2E; a slash,
// which no file name can hold, is written "__".
func FileName(operation string, keys ...string) string {
	var b strings.Builder
	b.WriteString(operation)
	for _, k := range keys {
		b.WriteByte('.')
		b.WriteString(FileKey(k))
	}
	return b.String()
}

// FileKey is a key as it stands in a file's name.
func FileKey(key string) string {
	return strings.ReplaceAll(strings.ReplaceAll(key, "/", "__"), ".", "%2E")
}
