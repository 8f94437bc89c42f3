// Command architecture draws the folders of the module from their imports, and
// writes pictures and table into ARCHITECTURE.md.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
)

const module = "rollcall"

func main() {
	file := flag.String("page", "ARCHITECTURE.md", "the page to write into")
	flag.Parse()
	if err := write(".", *file); err != nil {
		fmt.Fprintln(os.Stderr, "architecture:", err)
		os.Exit(1)
	}
}

func write(root, file string) error {
	list, err := read(root)
	if err != nil {
		return err
	}
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text, err := page(string(old), list)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

// read lists the module's folders with the go command.
func read(root string) ([]Folder, error) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Name,Doc,Imports", "./...")
	cmd.Dir = root
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the packages: %w", err)
	}
	var list []Package
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p Package
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read what go list says: %w", err)
		}
		list = append(list, p)
	}
	return folders(module, list), nil
}
