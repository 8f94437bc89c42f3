// New writes the skeleton of a check: its file, a test that is red, and a broken
// and a healthy world. Run it from the root of the repository:
//
//	go run ./shared/checks/new sg/efa-self-rule
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rollcall/shared/checks/generate/tree"
)

const usage = `Usage: go run ./shared/checks/new FAMILY/NAME

Writes a new check, to be filled in:

  shared/checks/FAMILY/NAME.go           the check: its words, and what it needs
  shared/checks/FAMILY/NAME_test.go      its cases; red until the check finds what is wrong
  stage/worlds/corpus/FAMILY-NAME.yaml   an account in which it is to be found
  stage/worlds/corpus/FAMILY-NAME-healthy.yaml

and puts it into the list of all checks. FAMILY is one that there is, NAME is of
words in lower case with "-" between them. An id is permanent once it is released.

Afterwards: go test ./shared/checks/..., make generate, make corpus RUN=FAMILY-NAME.
`

// The exit codes.
const (
	failed = 1 // a file could not be read or written
	misuse = 2 // the id cannot be taken
)

// refused is why no check can be made under an id.
type refused struct{ error }

func main() { os.Exit(run(".", os.Args[1:], os.Stdout, os.Stderr)) }

func run(root string, args []string, out, errs io.Writer) int {
	if len(args) == 1 && slices.Contains([]string{"-h", "-help", "--help"}, args[0]) {
		fmt.Fprint(out, usage)
		return 0
	}
	if len(args) != 1 {
		fmt.Fprint(errs, usage)
		return misuse
	}
	files, err := create(root, args[0])
	for _, file := range files {
		fmt.Fprintln(out, file)
	}
	switch {
	case errors.As(err, new(refused)):
		fmt.Fprintln(errs, "new:", err)
		return misuse
	case err != nil:
		fmt.Fprintln(errs, "new:", err)
		return failed
	}
	return 0
}

// create writes the files of a check, and gives their names. Nothing is written
// if the id cannot be taken, or if one of them is there.
func create(root, id string) (files []string, err error) {
	list, err := tree.Read(root)
	if err != nil {
		return nil, err
	}
	if err := fit(list, id); err != nil {
		return nil, refused{err}
	}
	family, _, _ := strings.Cut(id, "/")
	all := skeleton(id)
	for _, f := range all {
		if _, err := os.Lstat(filepath.Join(root, f.name)); err == nil {
			return nil, refused{fmt.Errorf("%s is there already", f.name)}
		}
	}
	for _, f := range all {
		if err := os.WriteFile(filepath.Join(root, f.name), []byte(f.text), 0o644); err != nil {
			return files, fmt.Errorf("write a check of %s: %w", family, err)
		}
		files = append(files, f.name)
	}
	if list, err = tree.Read(root); err != nil {
		return files, err
	}
	return append(files, tree.ListFile, tree.IDFile), tree.Write(root, list)
}

// fit tells why an id cannot be taken.
func fit(list []tree.Check, id string) error {
	if !tree.Valid(id) {
		return fmt.Errorf("%q is no id: it is a family and a name, as in sg/efa-self-rule", id)
	}
	var families []string
	for _, c := range list {
		if c.Const() == tree.Name(id) {
			return fmt.Errorf("there is a check %s, in %s", c.ID, c.File)
		}
		if !slices.Contains(families, c.Family) {
			families = append(families, c.Family)
		}
	}
	if family, _, _ := strings.Cut(id, "/"); !slices.Contains(families, family) {
		return fmt.Errorf("there is no family %s (there are %s); a new one begins with a folder in %s, a check in it and a package comment that says what it is about",
			family, strings.Join(families, ", "), tree.Dir)
	}
	return nil
}
