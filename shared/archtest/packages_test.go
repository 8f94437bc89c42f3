package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// module is the module's path.
const module = "rollcall"

// pkg is what `go list -json` says of a package.
type pkg struct {
	Dir        string
	ImportPath string
	GoFiles    []string
	Imports    []string
	Deps       []string
}

// name is the path below the module: "shared/event".
func (p pkg) name() string { return strings.TrimPrefix(p.ImportPath, module+"/") }

// listed are all packages of shared and functions, without their tests.
var listed = sync.OnceValues(func() ([]pkg, error) {
	cmd := exec.Command("go", "list", "-json=Dir,ImportPath,GoFiles,Imports,Deps", "./shared/...", "./functions/...")
	cmd.Dir = filepath.Join("..", "..")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var list []pkg
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
})

func packages(t *testing.T) []pkg {
	t.Helper()
	list, err := listed()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	if len(list) < 20 {
		t.Fatalf("go list found %d packages: the laws would hold for nothing", len(list))
	}
	return list
}

// within tells whether an import path is the given one or below it.
func within(path, root string) bool { return path == root || strings.HasPrefix(path, root+"/") }
