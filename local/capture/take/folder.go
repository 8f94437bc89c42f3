package take

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// folder is where the files go. A file is written under another name and renamed:
// whoever looks finds it whole or not at all.
type folder struct {
	dir    string
	resume bool
}

// openFolder makes the folder, for its taker's eyes only: what it holds may be used
// against the account.
func openFolder(dir string, resume bool) (*folder, error) {
	if !resume {
		if err := mustBeEmpty(dir); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, wrongInput("the folder cannot be made: %v", err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return nil, wrongInput("the folder cannot be kept from others: %v", err)
	}
	f := &folder{dir: dir, resume: resume}
	// Before anything is asked: a disk that cannot be written is told at once.
	if err := f.write(probe, []byte("x")); err != nil {
		return nil, err
	}
	if err := os.Remove(filepath.Join(dir, probe)); err != nil {
		return nil, wrongInput("%s cannot be written: %v", dir, err)
	}
	return f, f.removeHalves()
}

const probe = ".rollcall-probe"

// partial ends the name of a file that is being written.
const partial = ".part"

func mustBeEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return wrongInput("the folder cannot be read: %v", err)
	case len(entries) > 0:
		return wrongInput("%s is not empty: --resume goes on with the capture that is in it, --out names another folder", dir)
	}
	return nil
}

// removeHalves takes away what an earlier taking left when it was killed.
func (f *folder) removeHalves() error {
	halves, err := filepath.Glob(filepath.Join(f.dir, "*"+partial))
	if err != nil {
		return fmt.Errorf("look for half files: %w", err)
	}
	for _, h := range halves {
		if err := os.Remove(h); err != nil {
			return wrongInput("%s cannot be written: %v", f.dir, err)
		}
	}
	return nil
}

// write puts a file there as a whole.
func (f *folder) write(name string, data []byte) error {
	path := filepath.Join(f.dir, name)
	file, err := os.OpenFile(path+partial, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err == nil {
		_, err = file.Write(data)
		err = errors.Join(err, file.Sync(), file.Close())
	}
	if err == nil {
		err = os.Rename(path+partial, path)
	}
	if err != nil {
		return wrongInput("%s cannot be written: %v", f.dir, err)
	}
	return nil
}

// kept is a file that is there from before, nil if it is not, or is not whole.
func (f *folder) kept(name string) map[string]any {
	if !f.resume {
		return nil
	}
	data, err := os.ReadFile(filepath.Join(f.dir, name+".json"))
	if err != nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var tree map[string]any
	if d.Decode(&tree) != nil || tree == nil {
		return nil
	}
	return tree
}

// put writes what was answered, as the AWS CLI prints it.
func (f *folder) put(name string, v any) error {
	data, err := printed(v)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return f.write(name+".json", data)
}

func printed(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "    ")
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// writeAll writes a file of the whole, or takes away one that does not hold any more.
func (f *folder) writeAll(name string, v any, any bool) error {
	if !any {
		if err := os.Remove(filepath.Join(f.dir, name+".json")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return wrongInput("%s cannot be written: %v", f.dir, err)
		}
		return nil
	}
	return f.put(name, v)
}

// began gives the time at which the capture was begun, and keeps it: of what was
// read later it is only known that it is not older.
func (f *folder) began(now time.Time) (time.Time, error) {
	const name = "time.txt"
	if f.resume {
		data, err := os.ReadFile(filepath.Join(f.dir, name))
		if err == nil {
			if at, err := time.Parse(time.RFC3339, strings.TrimSpace(string(data))); err == nil {
				return at, nil
			}
		}
	}
	now = now.UTC().Truncate(time.Second)
	return now, f.write(name, []byte(now.Format(time.RFC3339)+"\n"))
}
