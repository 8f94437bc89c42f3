package worldfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// maxExtends bounds how deep worlds may extend each other.
const maxExtends = 8

// maxWorld bounds a world's file: the largest has some hundred KiB.
const maxWorld = 4 << 20

// reader reads a world's file by its path.
type reader func(path string) ([]byte, error)

// Load reads a world file and the files it extends.
func Load(path string) (*File, error) {
	return load(path, func(path string) ([]byte, error) { return readRegular(path, maxWorld) })
}

// LoadIn is Load of a file below a root: it extends nothing that is not below it too.
func LoadIn(root *os.Root, path string) (*File, error) {
	return load(path, func(path string) ([]byte, error) { return ReadRegular(root, path, maxWorld) })
}

func load(path string, read reader) (*File, error) {
	tree, err := loadTree(path, read, maxExtends)
	if err != nil {
		return nil, err
	}
	return fileOfTree(path, tree)
}

// Parse reads a world that extends no other from memory; name is for errors.
func Parse(name string, data []byte) (*File, error) {
	tree, err := treeOfYAML(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if _, ok := tree["extends"]; ok {
		return nil, &FieldError{File: name, Path: "extends", Problem: "only a file can extend another"}
	}
	return fileOfTree(name, tree)
}

func loadTree(path string, read reader, depth int) (map[string]any, error) {
	if depth == 0 {
		return nil, &FieldError{File: path, Path: "extends", Problem: "worlds extend each other too deeply"}
	}
	data, err := read(path)
	if err != nil {
		return nil, fmt.Errorf("read world: %w", err)
	}
	tree, err := treeOfYAML(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	// Checked before merging, so that an error names the file it is in.
	part, err := fileOfTree(path, withoutDeleted(tree).(map[string]any))
	if err != nil {
		return nil, err
	}
	if part.Extends == "" {
		return tree, nil
	}
	if ext := filepath.Ext(part.Extends); filepath.IsAbs(part.Extends) || ext != ".yaml" && ext != ".yml" {
		return nil, &FieldError{File: path, Path: "extends", Problem: "want the relative path of a YAML file"}
	}
	base, err := loadTree(filepath.Join(filepath.Dir(path), part.Extends), read, depth-1)
	if err != nil {
		return nil, err
	}
	delete(tree, keyLike(tree, "extends"))
	return merge(base, tree), nil
}

func fileOfTree(name string, tree map[string]any) (*File, error) {
	var f File
	if err := decode(&f, tree, ""); err != nil {
		var fe *FieldError
		if errors.As(err, &fe) {
			fe.File = name
		}
		return nil, err
	}
	return &f, nil
}

// Input is the entry's input as JSON.
func (e TimelineEntry) Input() (json.RawMessage, error) {
	if e.With == nil {
		return json.RawMessage(`{}`), nil
	}
	b, err := json.Marshal(e.With)
	if err != nil {
		return nil, fmt.Errorf("timeline %s: %w", e.Call, err)
	}
	return b, nil
}

// DecodeInput reads the input of an operation, JSON in the API's field names,
// into the SDK's struct for it. A field that is wrong is a *FieldError.
func DecodeInput(op string, input json.RawMessage, in any) error {
	tree, err := treeOfJSON(input)
	if err == nil {
		err = decode(in, tree, "")
	}
	var fe *FieldError
	switch {
	case errors.As(err, &fe):
		fe.Path = join(op, fe.Path)
		return fe
	case err != nil:
		return fmt.Errorf("call %s: %w", op, err)
	}
	return nil
}
