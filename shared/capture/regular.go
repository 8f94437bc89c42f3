package capture

import (
	"errors"
	"fmt"
	"io"
	"os"
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
