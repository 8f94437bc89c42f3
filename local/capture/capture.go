package capture

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"rollcall/local/simaws/worldfile"
	"rollcall/shared/evidence"
)

// Capture is a folder that was read.
type Capture struct {
	// Dir is its path.
	Dir string
	// Time is when it was taken.
	Time time.Time
	// Account and Region are whose and where, as far as the files tell.
	Account, Region string
	// Clusters are the names of the clusters in it, sorted.
	Clusters []string
	// Event is the EventBridge event to play, nil if there is none.
	Event json.RawMessage
	// Scope is what was asked for, where that is not all that there is: a function kept
	// what it read. Nil: all was asked for.
	Scope evidence.Scope
	// Kept tells of what it is evidence that a function kept; nil for another capture.
	Kept *evidence.About
	// Warnings say what was not understood and left out.
	Warnings []string

	files   map[string]any // by name: a pointer to an SDK output, or a tree
	refused map[string]refusal
	partial map[string]bool
	leftOut map[string]string // why a file is not there, by its name
}

// maxFile bounds one file: the largest real ones are lists of pods.
const maxFile = 64 << 20

// Open reads a folder. now bounds what may be the time of a capture that does
// not tell it. The error is an *Error that names the file if the folder is no
// capture or a file in it cannot be read.
func Open(dir string, now time.Time) (*Capture, error) {
	root, err := os.OpenRoot(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &Error{dir, "there is no such folder"}
	case err != nil:
		return nil, &Error{dir, fmt.Sprintf("it cannot be read as a folder: %v", err)}
	}
	defer root.Close()
	return OpenIn(root, dir, now)
}

// OpenIn is Open of a folder that is open; dir is what messages call it. Nothing outside of
// the folder is read: a capture is somebody else's, and its files may be links.
func OpenIn(root *os.Root, dir string, now time.Time) (*Capture, error) {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, &Error{dir, fmt.Sprintf("it cannot be read as a folder: %v", err)}
	}
	c := &Capture{Dir: dir, files: map[string]any{}, refused: map[string]refusal{}, partial: map[string]bool{}, leftOut: map[string]string{}}
	var times moments
	known := 0
	for _, e := range entries {
		ok, err := c.load(root, e, &times)
		if err != nil {
			return nil, err
		}
		if ok {
			known++
		}
	}
	if known == 0 {
		return nil, &Error{dir, "it is not a capture: it holds none of the files that a capture has, such as ec2-describe-instances.json"}
	}
	for name := range c.refused {
		if _, both := c.files[name]; both {
			c.warn("%s.json: errors.json says that this call was refused: what the file holds is left out", name)
			delete(c.files, name)
		}
	}
	if c.Time.IsZero() {
		if c.Time = times.newest(now); c.Time.IsZero() {
			c.warn("no file holds a time, and there is no time.txt: the capture is taken to be of now")
			c.Time = now
		}
	}
	c.identify()
	return c, nil
}

// load reads one file, and tells if it is one that a capture has.
func (c *Capture) load(root *os.Root, e fs.DirEntry, times *moments) (bool, error) {
	path := filepath.Join(c.Dir, e.Name())
	name := tidyName(e.Name())
	operation, _ := splitName(name)
	typ, isCall := operations()[operation]
	isJSON := strings.HasSuffix(e.Name(), ".json")
	special := e.Name() == evidence.AboutFile || e.Name() == "event.json" || e.Name() == "errors.json" || e.Name() == leftOutFile || e.Name() == evidence.AskedFile || e.Name() == "time.txt"
	if !special && !(isJSON && isCall) {
		if !strings.HasPrefix(e.Name(), ".") {
			c.warn("%s: not a file that a capture has; it is left out", e.Name())
		}
		return false, nil
	}
	data, err := worldfile.ReadRegular(root, e.Name(), maxFile)
	if err != nil {
		return false, &Error{path, err.Error()}
	}
	if e.Name() == "time.txt" {
		return false, c.takeTime(path, data)
	}
	switch e.Name() {
	case evidence.AskedFile:
		return false, about(path, data, &c.Scope)
	case evidence.AboutFile:
		return false, about(path, data, &c.Kept)
	}
	tree, err := treeOf(data)
	if err != nil {
		return false, &Error{path, err.Error()}
	}
	if tree == nil {
		c.warn("%s: the file is empty: the call that should have filled it is taken as not made", e.Name())
		return true, nil
	}
	if e.Name() == leftOutFile {
		return false, c.takeLeftOut(path, tree)
	}
	if _, ok := tree.(map[string]any); !ok {
		return false, &Error{path, "want a JSON object, got " + kindOf(tree)}
	}
	switch e.Name() {
	case "errors.json":
		return true, c.takeRefusals(path, tree)
	case "event.json":
		times.add(tree)
		return true, c.takeEvent(path, plainText(data), tree)
	}
	times.add(tree)
	return true, c.take(path, name, typ, tree)
}

// about reads a file that tells what the others are of.
func about(path string, data []byte, to any) error {
	if err := json.Unmarshal(plainText(data), to); err != nil {
		return &Error{path, err.Error()}
	}
	return nil
}

// take keeps what a call answered.
func (c *Capture) take(path, name string, typ reflect.Type, tree any) error {
	if typ == nil {
		c.files[name] = tree
		return nil
	}
	out := reflect.New(typ)
	if err := decode(out.Elem(), tree, ""); err != nil {
		return &Error{path, err.Error()}
	}
	if more(out.Elem()) {
		c.warn("%s.json: it holds only the first page of the answer (there is a token for the next): nothing is concluded from it", name)
		c.partial[name] = true
		return nil
	}
	c.files[name] = out.Interface()
	return nil
}

// more tells that an answer goes on: half a list must not pass as the list.
func more(out reflect.Value) bool {
	for _, field := range []string{"NextToken", "Marker"} {
		f := out.FieldByName(field)
		if f.IsValid() && f.Kind() == reflect.Pointer && !f.IsNil() && f.Elem().String() != "" {
			return true
		}
	}
	return false
}

func (c *Capture) takeTime(path string, data []byte) error {
	text := strings.TrimSpace(string(plainText(data)))
	if line, _, ok := strings.Cut(text, "\n"); ok {
		text = strings.TrimSpace(line)
	}
	t, err := timeOf(text)
	if err != nil {
		return &Error{path, err.Error() + ", such as 2026-11-20T15:10:00Z"}
	}
	c.Time = t
	return nil
}

func (c *Capture) takeEvent(path string, data []byte, tree any) error {
	for _, key := range []string{"source", "detail-type"} {
		if text, _ := tree.(map[string]any)[key].(string); text == "" {
			return &Error{path, fmt.Sprintf("it is not an EventBridge event: it has no %q", key)}
		}
	}
	c.Event = data
	return nil
}

func (c *Capture) warn(format string, args ...any) {
	c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...))
}

// names are the files of an operation.
func (c *Capture) names(operation string) []string {
	var list []string
	for name := range c.files {
		if name == operation || strings.HasPrefix(name, operation+".") {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}
