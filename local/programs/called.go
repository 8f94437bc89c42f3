package programs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"rollcall/shared/lambda"
)

// bootstrap is what Lambda calls the program of a function (Lambda developer guide,
// "Building a custom runtime").
const bootstrap = "bootstrap"

// Called is the function as which a program is started that holds all of them: the one
// of whose folder it is the bootstrap.
func Called(path string) (lambda.Program, bool) {
	all := All()
	i := slices.IndexFunc(all, func(p lambda.Program) bool { return p.Name == filepath.Base(filepath.Dir(path)) })
	if i < 0 || filepath.Base(path) != bootstrap {
		return lambda.Program{}, false
	}
	return all[i], true
}

// Place makes <function>/bootstrap in a folder for each function, all of them the
// program at a path, which asks Called when it starts.
func Place(program, folder string) error {
	for _, p := range All() {
		dir := filepath.Join(folder, p.Name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("make a folder for %s: %w", p.Name, err)
		}
		at := filepath.Join(dir, bootstrap)
		// A link where that can be: Windows lets few make symbolic ones, and a file
		// system may have no others.
		err := os.Symlink(program, at)
		if err != nil {
			err = os.Link(program, at)
		}
		if err != nil {
			err = clone(program, at)
		}
		if err != nil {
			return fmt.Errorf("place %s: %w", p.Name, err)
		}
	}
	return nil
}

func clone(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
