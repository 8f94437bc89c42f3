// Package tree reads which checks there are from the folders of their families,
// and writes the constants of their ids and the list of all of them. It reads
// source text only, so that it works where the checks do not compile for want
// of what it writes.
package tree

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Dir is where the families' folders are, from the root of the repository.
const Dir = "shared/checks"

// Check is a check as its file declares it.
type Check struct {
	Family string // the folder, also the first half of the id
	ID     string
	Func   string // the constructor
	File   string // below the root
}

// Const is the name of the id's constant.
func (c Check) Const() string { return Name(c.ID) }

// form is the form of an id: a family and a name, of words in lower case.
var form = regexp.MustCompile(`^[a-z][a-z0-9]*/[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// Valid tells that a text has the form of an id.
func Valid(id string) bool { return form.MatchString(id) }

// Name is an id, or a part of one, as a Go name: "sg/efa-self-rule" is SGEFASelfRule.
func Name(id string) string {
	initialisms := strings.Fields("AMI API ARN AWS CA CIDR CNI CSR DHCP DNS EBS EFA ENI IAM ID IGW IMDS IP KMS NACL NAT S3 SG SSM STS TLS VCPU VPC")
	words := strings.FieldsFunc(id, func(r rune) bool { return r == '/' || r == '-' })
	for i, w := range words {
		switch upper := strings.ToUpper(w); {
		case slices.Contains(initialisms, upper):
			words[i] = upper
		case w == "ipv4", w == "ipv6":
			words[i] = "IP" + w[2:]
		default:
			words[i] = upper[:1] + w[1:]
		}
	}
	return strings.Join(words, "")
}

// FileOf is the file of a check, below the root.
func FileOf(id string) string {
	return filepath.Join(Dir, filepath.FromSlash(strings.ReplaceAll(id, "-", "_"))+".go")
}

// Read finds the checks below the root of the repository: in each family's
// folder the functions without parameters that return a check, and the id that
// each spells. The order is that of the list that was written last, new checks
// come last in their family and new families last of all.
func Read(root string) ([]Check, error) {
	files, err := filepath.Glob(filepath.Join(root, Dir, "*", "*.go"))
	if err != nil {
		return nil, err
	}
	var list []Check
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		below, err := filepath.Rel(root, file)
		if err != nil {
			return nil, err
		}
		found, err := of(file, filepath.ToSlash(below))
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no check below %s: this is not the root of the repository", filepath.Join(root, Dir))
	}
	before, err := readIfThere(filepath.Join(root, ListFile))
	if err != nil {
		return nil, err
	}
	sorted(list, before)
	for i, c := range list {
		if slices.ContainsFunc(list[:i], func(o Check) bool { return o.Const() == c.Const() }) {
			return nil, fmt.Errorf("%s: another check has the id %s, or one so much like it that its constant would be the same", c.File, c.ID)
		}
	}
	constants, err := readIfThere(filepath.Join(root, IDFile))
	if err != nil {
		return nil, err
	}
	return list, kept(list, constants)
}

// written is an id in the file of constants.
var written = regexp.MustCompile(`ID = "([^"]+)"`)

// kept refuses a list without an id that was there: ids stand in messages, in
// finding events and in other people's rules.
func kept(list []Check, constants string) error {
	for _, m := range written.FindAllStringSubmatch(constants, -1) {
		if !slices.ContainsFunc(list, func(c Check) bool { return c.ID == m[1] }) {
			return fmt.Errorf("the check %s is gone: ids are permanent (one that was never released may be taken out of %s by hand)", m[1], IDFile)
		}
	}
	return nil
}

func readIfThere(file string) (string, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(text), err
}

// of are the checks of a file.
func of(file, below string) ([]Check, error) {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", below, err)
	}
	family := filepath.Base(filepath.Dir(file))
	var list []Check
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || !constructor(fn) {
			continue
		}
		c := Check{Family: family, ID: idOf(fn), Func: fn.Name.Name, File: below}
		switch {
		case c.ID == "":
			return nil, fmt.Errorf("%s: %s returns a check and spells no id", below, c.Func)
		case !Valid(c.ID) || !strings.HasPrefix(c.ID, family+"/"):
			return nil, fmt.Errorf("%s: the id %q is not of the form %s/some-name", below, c.ID, family)
		case below != filepath.ToSlash(FileOf(c.ID)):
			return nil, fmt.Errorf("%s: the check %s belongs in %s", below, c.ID, FileOf(c.ID))
		case !fn.Name.IsExported():
			return nil, fmt.Errorf("%s: %s must be exported, or no list can have it", below, c.Func)
		}
		list = append(list, c)
	}
	return list, nil
}

// constructor tells a function that makes a check out of nothing.
func constructor(fn *ast.FuncDecl) bool {
	if fn.Recv != nil || fn.Type.Params.NumFields() > 0 || fn.Type.Results.NumFields() != 1 {
		return false
	}
	t, ok := fn.Type.Results.List[0].Type.(*ast.SelectorExpr)
	return ok && t.Sel.Name == "Check"
}

// idOf is the id that a constructor spells: the field ID of a check, or id of
// what makes one.
func idOf(fn *ast.FuncDecl) (id string) {
	ast.Inspect(fn, func(n ast.Node) bool {
		kv, ok := n.(*ast.KeyValueExpr)
		if !ok || id != "" {
			return true
		}
		key, isName := kv.Key.(*ast.Ident)
		value, isText := kv.Value.(*ast.BasicLit)
		if isName && isText && value.Kind == token.STRING && (key.Name == "ID" || key.Name == "id") {
			if text, err := strconv.Unquote(value.Value); err == nil {
				id = text
			}
		}
		return true
	})
	return id
}

func sorted(list []Check, before string) {
	at := func(text string) int {
		if i := strings.Index(before, text); i >= 0 {
			return i
		}
		return len(before)
	}
	slices.SortStableFunc(list, func(a, b Check) int {
		if a.Family != b.Family {
			return at("\t"+a.Family+".") - at("\t"+b.Family+".")
		}
		return at(call(a)) - at(call(b))
	})
}

func call(c Check) string { return "\t" + c.Family + "." + c.Func + "()," }
