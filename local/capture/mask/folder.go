// Package mask replaces, in a capture, account ids, names and what looks like
// a secret: the same ones by the same words everywhere, in the files and in
// their names, so that the capture is diagnosed as before.
package mask

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Folder masks a capture into another folder, which may be there if it is empty.
// Everything is read before anything is written.
func Folder(from, to string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return fmt.Errorf("read: %w", err)
	}
	files, others := map[string]string{}, map[string][]byte{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err != nil {
			return fmt.Errorf("read: %w", err)
		}
		if strings.HasSuffix(e.Name(), ".json") {
			files[e.Name()] = string(data)
		} else {
			others[e.Name()] = data // time.txt
		}
	}
	masked, err := mask(files)
	if err != nil {
		return err
	}
	for name, text := range masked {
		others[name] = []byte(text)
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	for name, data := range others {
		if err := os.WriteFile(filepath.Join(to, name), data, 0o600); err != nil {
			return fmt.Errorf("write: %w", err)
		}
	}
	return nil
}
