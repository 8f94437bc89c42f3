package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// message is one message that a program can print, as its source has it.
type message struct {
	pkg, fn string // fn as in "Kubelet.registerWithAPIServer"
	kind    kind
	level   string // of a log its level, of an event its type, of a condition its status
	words   string // the format, in front of it a reason; no list has it
	at      string // file and line, for those who read the source
	err     bool   // a log line that has an error as a field
}

// kind is what prints a message.
type kind string

// The kinds of messages.
const (
	kindError     kind = "error"
	kindLog       kind = "log"
	kindEvent     kind = "event"
	kindCondition kind = "condition"
	kindCode      kind = "code"
)

// hash is a short hash of the words.
func (m message) hash() string {
	sum := sha256.Sum256([]byte(m.words))
	return hex.EncodeToString(sum[:4])
}

// file is where the message is, without the line.
func (m message) file() string {
	file, _, _ := strings.Cut(m.at, ":")
	return file
}

func compareMessages(a, b message) int {
	return cmp.Or(strings.Compare(a.pkg, b.pkg), strings.Compare(a.fn, b.fn), strings.Compare(string(a.kind), string(b.kind)),
		strings.Compare(a.level, b.level), strings.Compare(a.hash(), b.hash()))
}

// walk returns the messages of a program's packages, sorted, each once.
func walk(dir string, p program) ([]message, error) {
	var list []message
	for _, pkg := range p.packages {
		for _, folder := range strings.Fields(pkg.dirs) {
			found, err := walkFolder(dir, p.module, folder)
			if err != nil {
				return nil, err
			}
			list = append(list, found...)
		}
	}
	slices.SortFunc(list, compareMessages)
	return slices.CompactFunc(list, func(a, b message) bool { return compareMessages(a, b) == 0 }), nil
}

// walkFolder reads the files of one package that Linux builds.
func walkFolder(dir, module, folder string) ([]message, error) {
	w := &walker{module: module, root: dir, consts: map[string]map[string]string{}}
	files, err := w.parse(folder)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		w.file, w.pkg, w.imports = f, folder, importsOf(f)
		for _, decl := range f.Decls {
			w.fn = "-"
			if fn, ok := decl.(*ast.FuncDecl); ok {
				w.fn = nameOf(fn)
			}
			w.quoted, w.locals = map[ast.Node]bool{}, w.localsOf(decl)
			ast.Inspect(decl, w.visit)
		}
	}
	return w.list, nil
}

type walker struct {
	root, module string
	fset         token.FileSet
	consts       map[string]map[string]string // by folder and name
	file         *ast.File
	imports      map[string]string
	pkg, fn      string
	quoted       map[ast.Node]bool // calls whose words a call around them has taken
	locals       map[string]string // strings that a function gives its variables
	list         []message
}

func (w *walker) parse(folder string) ([]*ast.File, error) {
	names, err := filepath.Glob(filepath.Join(w.root, folder, "*.go"))
	if err != nil {
		return nil, err
	}
	on := build.Default
	on.GOOS, on.GOARCH, on.CgoEnabled = "linux", "amd64", true
	var files []*ast.File
	for _, name := range names {
		base := filepath.Base(name)
		if strings.HasSuffix(base, "_test.go") || strings.HasPrefix(base, "zz_generated") || strings.Contains(base, "fake") || strings.HasSuffix(base, ".pb.go") {
			continue
		}
		if ok, err := on.MatchFile(filepath.Dir(name), base); err != nil || !ok {
			continue
		}
		f, err := parser.ParseFile(&w.fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("parse: %w", err)
		}
		files = append(files, f)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no Go in %s", w.module, folder)
	}
	w.consts[folder] = map[string]string{}
	for _, f := range files {
		for _, decl := range f.Decls {
			if gen, ok := decl.(*ast.GenDecl); ok {
				w.declare(folder, gen)
			}
		}
	}
	return files, nil
}

// declare keeps the strings that constants and variables of a package are.
func (w *walker) declare(folder string, gen *ast.GenDecl) {
	for _, spec := range gen.Specs {
		v, ok := spec.(*ast.ValueSpec)
		if !ok {
			continue
		}
		for i, name := range v.Names {
			if i < len(v.Values) {
				if s, ok := w.text(v.Values[i]); ok {
					w.consts[folder][name.Name] = s
				}
			}
		}
	}
}

// localsOf are the strings that a function's variables are given, all that one may be.
func (w *walker) localsOf(decl ast.Decl) map[string]string {
	w.locals = nil
	found := map[string]string{}
	ast.Inspect(decl, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != len(a.Rhs) {
			return true
		}
		for i, left := range a.Lhs {
			if id, ok := left.(*ast.Ident); ok && id.Name != "_" {
				if s, ok := w.text(a.Rhs[i]); ok && s != "" && callName(callOf(a.Rhs[i])) != "Errorf" {
					found[id.Name] = strings.TrimSpace(found[id.Name] + " " + s)
				}
			}
		}
		return true
	})
	return found
}

func callOf(e ast.Expr) *ast.CallExpr {
	if c, ok := e.(*ast.CallExpr); ok {
		return c
	}
	return &ast.CallExpr{}
}

func importsOf(f *ast.File) map[string]string {
	m := map[string]string{}
	for _, i := range f.Imports {
		where, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			continue
		}
		name := path.Base(where)
		if i.Name != nil {
			name = i.Name.Name
		}
		m[name] = where
	}
	return m
}

func nameOf(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return fn.Name.Name
	}
	t := fn.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if generic, ok := t.(*ast.IndexExpr); ok {
		t = generic.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name + "." + fn.Name.Name
	}
	return fn.Name.Name
}

// text is the string that an expression is, as far as its source shows it.
func (w *walker) text(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			s, err := strconv.Unquote(e.Value)
			return s, err == nil
		}
	case *ast.ParenExpr:
		return w.text(e.X)
	case *ast.BinaryExpr:
		return w.sum(e)
	case *ast.Ident:
		if s, ok := w.locals[e.Name]; ok {
			return s, true
		}
		s, ok := w.consts[w.pkg][e.Name]
		return s, ok
	case *ast.SelectorExpr:
		return w.imported(e)
	case *ast.CallExpr:
		name := callName(e)
		switch {
		case (name == "Sprintf" || name == "Sprint" || name == "Sprintln" || name == "Errorf") && len(e.Args) > 0:
			return w.text(e.Args[0])
		case name == "string" || name == "lo.ToPtr" || name == "Join" || name == "Replace" || strings.HasPrefix(name, "Trim"):
			if len(e.Args) > 0 {
				return w.text(e.Args[0])
			}
		}
	}
	return "", false
}

func (w *walker) sum(e *ast.BinaryExpr) (string, bool) {
	if e.Op != token.ADD {
		return "", false
	}
	x, okX := w.text(e.X)
	y, okY := w.text(e.Y)
	if !okX {
		x = "%v"
	}
	if !okY {
		y = "%v"
	}
	return x + y, okX || okY
}

// imported is a constant of another package of the same module.
func (w *walker) imported(e *ast.SelectorExpr) (string, bool) {
	x, ok := e.X.(*ast.Ident)
	if !ok {
		return "", false
	}
	where, ok := w.imports[x.Name]
	if !ok {
		return "", false
	}
	folder, ok := strings.CutPrefix(where, w.module+"/")
	if !ok {
		return "", false
	}
	if _, read := w.consts[folder]; !read {
		if _, err := w.parse(folder); err != nil {
			return "", false
		}
	}
	s, ok := w.consts[folder][e.Sel.Name]
	return s, ok
}

func callName(call *ast.CallExpr) string {
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		return fun.Name
	case *ast.SelectorExpr:
		return fun.Sel.Name
	}
	return ""
}

// receiver is what a method or a package's function is called on, as it is written.
func receiver(call *ast.CallExpr) string {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	switch x := sel.X.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return x.Sel.Name
	case *ast.CallExpr:
		if name := callName(x); name == "V" || name == "WithField" || name == "WithFields" || name == "WithError" || name == "WithValues" {
			return "log." + name
		}
		return callName(x)
	}
	return ""
}

// logLevel is the level of a call of klog, logr, zap, logrus or containerd's log.
var (
	logLevel = regexp.MustCompile(`^(Error|Warn|Warning|Fatal|Panic|Exit|Info|Debug|Trace)(f|ln|S|w|Depth|SDepth|fDepth|WithContext)?$`)
	noLog    = regexp.MustCompile(`^(err|errs|errors|t|fmt|http|assert|require|status|stmt|ret|result|xerrors)$|Err$|Error$|Reason$`)
	maker    = regexp.MustCompile(`^(New|new)\w*(Error|Err|Forbidden|BadRequest|Status|NotFound)f?$|^(Wrap|Wrapf|WithMessage|WithMessagef|TerminalError|Newf|NewAggregate)$`)
	recorder = regexp.MustCompile(`^(Event|Eventf|AnnotatedEventf|PastEventf)$|EventTypeNormal|EventTypeWarning`)
)

func (w *walker) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		w.call(n)
	case *ast.CompositeLit:
		w.literal(n)
	case *ast.BlockStmt:
		w.assigned(n.List)
	case *ast.CaseClause:
		w.assigned(n.Body)
	}
	return true
}

func (w *walker) call(call *ast.CallExpr) {
	if w.quoted[call] {
		return
	}
	name, on := callName(call), receiver(call)
	if typed := eventType(call); typed != nil {
		w.event(call, typed)
		return
	}
	switch status := conditionStatus(name); {
	case status != "":
		words := w.strings(call.Args)
		if len(call.Args) > 0 && len(words) < len(call.Args) {
			if sel, ok := call.Args[0].(*ast.SelectorExpr); ok && !slices.Contains(words, sel.Sel.Name) {
				words = append([]string{sel.Sel.Name}, words...)
			}
		}
		if strings.HasSuffix(on, "StatusConditions") || len(words) > 0 && len(call.Args) > 0 {
			w.add(call, kindCondition, status, words...)
		}
	case name == "Errorf" && (on == "fmt" || on == "errors" || on == "status" || on == "xerrors") || name == "New" && (on == "errors" || on == "serrors") ||
		name == "Error" && on == "status" || maker.MatchString(name):
		if words := w.strings(call.Args); len(words) > 0 && on != "serrors" {
			w.add(call, kindError, "-", words...)
			w.quote(call)
		}
	case name == "HandleError" || name == "HandleErrorWithContext" || name == "HandleErrorWithLogger":
		w.log(call, "error")
	case logLevel.MatchString(name) && on != "" && !noLog.MatchString(on):
		level := strings.ToLower(logLevel.FindStringSubmatch(name)[1])
		switch level {
		case "warning":
			level = "warn"
		case "panic", "exit":
			level = "fatal"
		}
		if level == "info" && verbose(call) {
			level = "debug"
		}
		w.log(call, level)
	}
}

// verbose reports whether a line is printed only at a verbosity above 2, which is what
// EKS starts the kubelet with.
func verbose(call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	v := callOf(sel.X)
	if callName(v) != "V" || len(v.Args) != 1 {
		return false
	}
	lit, ok := v.Args[0].(*ast.BasicLit)
	return !ok || lit.Value > "2" || len(lit.Value) > 1
}

// log adds a call of a logger: its words are the first string, behind them come names and
// values.
func (w *walker) log(call *ast.CallExpr, level string) {
	words := w.strings(call.Args)
	if len(words) == 0 {
		return
	}
	w.quote(call)
	before := len(w.list)
	w.add(call, kindLog, level, words[0])
	if len(w.list) > before {
		w.list[before].err = slices.ContainsFunc(words[1:], func(s string) bool { return s == "err" || s == "error" }) || strings.Contains(words[0], "%w")
	}
}

// quote takes the calls in a call as read.
func (w *walker) quote(call *ast.CallExpr) {
	for _, arg := range call.Args {
		ast.Inspect(arg, func(n ast.Node) bool {
			if _, inside := n.(*ast.FuncLit); inside {
				return false
			}
			if c, ok := n.(*ast.CallExpr); ok {
				w.quoted[c] = true
			}
			return true
		})
	}
}

// strings are the arguments that are strings.
func (w *walker) strings(args []ast.Expr) []string {
	var list []string
	for _, arg := range args {
		if s, ok := w.text(arg); ok && strings.TrimSpace(s) != "" {
			list = append(list, s)
		}
	}
	return list
}

func (w *walker) add(at ast.Node, k kind, level string, words ...string) {
	all := strings.Join(strings.Fields(strings.Join(words, " ")), " ")
	if !strings.ContainsFunc(strings.NewReplacer("%v", "", "%s", "", "%w", "", "%q", "", "%d", "", "%+v", "").Replace(all), func(r rune) bool { return r >= 'A' }) {
		return // nothing of its own
	}
	place := w.fset.Position(at.Pos())
	name, err := filepath.Rel(w.root, place.Filename)
	if err != nil {
		name = place.Filename
	}
	w.list = append(w.list, message{pkg: w.pkg, fn: w.fn, kind: k, level: level, words: all, at: fmt.Sprintf("%s:%d", filepath.ToSlash(name), place.Line)})
}

// eventType is the argument that says what type of event a call records: a recorder's, or
// that of a function which wraps one.
func eventType(call *ast.CallExpr) ast.Expr {
	for _, arg := range call.Args {
		if sel, ok := arg.(*ast.SelectorExpr); ok && strings.HasPrefix(sel.Sel.Name, "EventType") {
			return arg
		}
	}
	name := callName(call)
	if recorder.MatchString(name) && receiver(call) != "" && len(call.Args) > 2 {
		return call.Args[1]
	}
	return nil
}

func (w *walker) event(call *ast.CallExpr, typed ast.Expr) {
	level := "Warning"
	text, _ := w.text(typed)
	if sel, ok := typed.(*ast.SelectorExpr); ok && sel.Sel.Name == "EventTypeNormal" || text == "Normal" {
		level = "Normal"
	}
	var words []string
	for _, arg := range call.Args[slices.Index(call.Args, typed)+1:] {
		s, ok := w.text(arg)
		if sel, isSel := arg.(*ast.SelectorExpr); !ok && isSel && len(words) == 0 && !strings.EqualFold(sel.Sel.Name, "log") {
			s, ok = sel.Sel.Name, true
		}
		if ok {
			words = append(words, s)
		}
	}
	if len(words) == 0 { // a wrapper that takes the type last
		words = w.strings(call.Args)
	}
	if len(words) > 2 { // reason, action, note of the newer API
		words = []string{words[0], words[len(words)-1]}
	}
	w.add(call, kindEvent, level, words...)
}

func conditionStatus(name string) string {
	switch name {
	case "SetTrue", "SetTrueWithReason":
		return "True"
	case "SetFalse":
		return "False"
	case "SetUnknown", "SetUnknownWithReason":
		return "Unknown"
	}
	return ""
}

// literal adds conditions and events that are written as values.
func (w *walker) literal(lit *ast.CompositeLit) {
	fields := map[string]ast.Expr{}
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if key, ok := kv.Key.(*ast.Ident); ok {
				fields[key.Name] = kv.Value
			}
		}
	}
	w.fields(lit, fields)
}

// assigned adds conditions whose fields are assigned one by one.
func (w *walker) assigned(body []ast.Stmt) {
	on := map[string]map[string]ast.Expr{}
	at := map[string]ast.Node{}
	for _, s := range body {
		a, ok := s.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
			continue
		}
		if sel, ok := a.Lhs[0].(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok {
				if on[x.Name] == nil {
					on[x.Name], at[x.Name] = map[string]ast.Expr{}, a
				}
				on[x.Name][sel.Sel.Name] = a.Rhs[0]
			}
		}
	}
	for x, fields := range on {
		w.fields(at[x], fields)
	}
}

func (w *walker) fields(at ast.Node, fields map[string]ast.Expr) {
	reason, hasReason := fields["Reason"]
	if !hasReason {
		return
	}
	words := w.strings([]ast.Expr{reason})
	if len(words) == 0 {
		if sel, ok := reason.(*ast.SelectorExpr); ok {
			words = append(words, sel.Sel.Name)
		}
	}
	if m, ok := fields["Message"]; ok {
		words = append(words, w.strings([]ast.Expr{m})...)
	}
	if len(words) == 0 {
		return
	}
	level := "-"
	if s, ok := fields["Status"]; ok {
		for _, status := range []string{"True", "False", "Unknown"} {
			if sel, ok := s.(*ast.SelectorExpr); ok && strings.HasSuffix(sel.Sel.Name, status) {
				level = status
			}
		}
	}
	k := kindCondition
	if t, ok := fields["Type"]; ok {
		if sel, ok := t.(*ast.SelectorExpr); ok {
			if typed, isEvent := strings.CutPrefix(sel.Sel.Name, "EventType"); isEvent {
				k, level = kindEvent, typed
			} else {
				words = append([]string{strings.TrimPrefix(sel.Sel.Name, "Node")}, words...)
			}
		}
	}
	if _, ok := fields["InvolvedObject"]; ok && k != kindEvent {
		k, level = kindEvent, "Warning"
	}
	w.add(at, k, level, words...)
}
