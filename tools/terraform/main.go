// Command terraform writes what of deploy/terraform follows from elsewhere: the variables of
// the hub, one for each setting of the standard template, and the README of each module in the
// form of terraform-docs.
//
//	go run ./tools/terraform [FOLDER]
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"rollcall/infra/standard/parameters"
	"rollcall/shared/settingsfile"
)

func main() {
	root := "deploy/terraform"
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	if err := write(root); err != nil {
		fmt.Fprintln(os.Stderr, "terraform:", err)
		os.Exit(1)
	}
}

func write(root string) error {
	if err := os.WriteFile(filepath.Join(root, "settings.tf"), settingsFile(), 0o644); err != nil {
		return err
	}
	for _, name := range modules() {
		m, err := read(filepath.Join(root, name))
		if err != nil {
			return err
		}
		if err := document(filepath.Join(root, name, "README.md"), m); err != nil {
			return err
		}
	}
	return nil
}

// modules are the folders of deploy/terraform that are modules.
func modules() []string {
	return []string{".", "modules/spoke", "modules/relay", "modules/cluster", "modules/code"}
}

// settingsFile is settings.tf: a variable for each setting that is a parameter, with its
// default, its description and what CloudFormation would refuse; and where each stands in the
// settings file.
func settingsFile() []byte {
	f := hclwrite.NewEmptyFile()
	body := f.Body()
	body.AppendUnstructuredTokens(comment("Written by make generate from the parameters of the standard template. Do not edit."))
	for _, p := range parameters.All() {
		if !isVariable(p) {
			continue
		}
		body.AppendNewline()
		v := body.AppendNewBlock("variable", []string{snake(p.Setting)}).Body()
		v.SetAttributeValue("description", cty.StringVal(p.About))
		v.SetAttributeTraversal("type", hcl.Traversal{hcl.TraverseRoot{Name: "string"}})
		v.SetAttributeValue("default", cty.StringVal(p.Default))
		condition(v, p)
	}
	body.AppendNewline()
	locals := body.AppendNewBlock("locals", nil).Body()
	locals.AppendUnstructuredTokens(comment("Where each setting stands in the settings file."))
	locals.SetAttributeValue("places", places())
	locals.AppendNewline()
	locals.AppendUnstructuredTokens(comment("What the variables say of each setting."))
	locals.SetAttributeRaw("variables", object(func(p parameters.Parameter) (string, string) { return p.Setting, "var." + snake(p.Setting) }))
	locals.AppendNewline()
	locals.AppendUnstructuredTokens(comment("The parameters that are settings as they are."))
	locals.SetAttributeRaw("plain", object(func(p parameters.Parameter) (string, string) { return p.Name, "local.settings." + p.Setting }))
	return hclwrite.Format(f.Bytes())
}

// isVariable tells what the hub has a variable for: each setting but the stack's name, which
// is the stack's own.
func isVariable(p parameters.Parameter) bool {
	return p.Setting != "" && p.Name != parameters.NamePrefix
}

func comment(text string) hclwrite.Tokens {
	return hclwrite.Tokens{{Type: hclsyntax.TokenComment, Bytes: []byte("# " + text + "\n")}}
}

// anything is the form of a text that only functions read.
const anything = `^.+$`

// condition has a plan refuse what CloudFormation would refuse later.
func condition(v *hclwrite.Body, p parameters.Parameter) {
	var expression, message string
	switch name := snake(p.Setting); {
	case len(p.Allowed) > 0:
		var list []cty.Value
		for _, a := range p.Allowed {
			list = append(list, cty.StringVal(a))
		}
		expression = fmt.Sprintf("contains(%s, var.%s)", hclwrite.TokensForValue(cty.TupleVal(list)).Bytes(), name)
		message = fmt.Sprintf("%s must be one of: %s.", name, strings.Join(p.Allowed, ", "))
	case p.Pattern != "" && p.Pattern != anything:
		expression = fmt.Sprintf("can(regex(%s, var.%s))", hclwrite.TokensForValue(cty.StringVal(p.Pattern)).Bytes(), name)
		message = fmt.Sprintf("%s does not have the form that its description gives.", name)
	case p.Type == "Number":
		expression = fmt.Sprintf("try(tonumber(var.%s) >= %d && tonumber(var.%s) <= %d, false)", name, p.Least, name, p.Most)
		message = fmt.Sprintf("%s must be a number from %d to %d.", name, p.Least, p.Most)
	default:
		return
	}
	rule := v.AppendNewBlock("validation", nil).Body()
	rule.SetAttributeRaw("condition", raw(expression))
	rule.SetAttributeValue("error_message", cty.StringVal(message))
}

func raw(expression string) hclwrite.Tokens {
	return hclwrite.Tokens{{Type: hclsyntax.TokenIdent, Bytes: []byte(expression)}}
}

// object is a mapping of all settings that are parameters.
func object(of func(parameters.Parameter) (key, expression string)) hclwrite.Tokens {
	var list []hclwrite.ObjectAttrTokens
	for _, p := range parameters.All() {
		if isVariable(p) {
			key, expression := of(p)
			list = append(list, hclwrite.ObjectAttrTokens{Name: hclwrite.TokensForIdentifier(key), Value: raw(expression)})
		}
	}
	return hclwrite.TokensForObject(list)
}

func places() cty.Value {
	list := map[string]cty.Value{}
	for key, place := range settingsfile.Places() {
		section, name, _ := strings.Cut(place, ".")
		list[key] = cty.TupleVal([]cty.Value{cty.StringVal(section), cty.StringVal(name)})
	}
	return cty.ObjectVal(list)
}

// snake is a name as Terraform writes it: vpcSubnetIds is vpc_subnet_ids.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if r >= 'A' && r <= 'Z' && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(r)
	}
	return strings.ToLower(b.String())
}

// module is what of a module its README tells.
type module struct {
	Variables []variable
	Outputs   []output
	// Requirements are provider, or terraform, and version; Resources are types and names, with
	// "data" or "resource"; Modules are names and sources.
	Requirements, Modules [][2]string
	Resources             [][3]string
}

type variable struct {
	Name, Description, Type string
	// Default is JSON, "" where one must be given.
	Default string
}

type output struct{ Name, Description string }

// read reads a module's files.
func read(dir string) (module, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.tf"))
	if err != nil || len(files) == 0 {
		return module{}, fmt.Errorf("no module in %s", dir)
	}
	var m module
	parser := hclparse.NewParser()
	for _, name := range files {
		f, problems := parser.ParseHCLFile(name)
		if problems.HasErrors() {
			return module{}, fmt.Errorf("read %s: %w", name, problems)
		}
		for _, block := range f.Body.(*hclsyntax.Body).Blocks {
			if err := m.add(block, f.Bytes); err != nil {
				return module{}, fmt.Errorf("read %s: %w", name, err)
			}
		}
	}
	slices.SortFunc(m.Variables, func(a, b variable) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(m.Outputs, func(a, b output) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(m.Requirements, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	slices.SortFunc(m.Resources, func(a, b [3]string) int { return strings.Compare(strings.Join(a[:], " "), strings.Join(b[:], " ")) })
	return m, nil
}

func (m *module) add(block *hclsyntax.Block, source []byte) error {
	text := func(name string) (string, error) {
		a, ok := block.Body.Attributes[name]
		if !ok {
			return "", nil
		}
		var s string
		if problems := gohcl.DecodeExpression(a.Expr, nil, &s); problems.HasErrors() {
			return "", problems
		}
		return s, nil
	}
	about, err := text("description")
	if err != nil {
		return err
	}
	switch block.Type {
	case "variable":
		v := variable{Name: block.Labels[0], Description: about}
		if a, ok := block.Body.Attributes["type"]; ok {
			v.Type = string(a.Expr.Range().SliceBytes(source))
		}
		if a, ok := block.Body.Attributes["default"]; ok {
			value, problems := a.Expr.Value(nil)
			if problems.HasErrors() {
				return problems
			}
			b, err := ctyjson.Marshal(value, value.Type())
			if err != nil {
				return err
			}
			v.Default = string(b)
		}
		m.Variables = append(m.Variables, v)
	case "output":
		m.Outputs = append(m.Outputs, output{block.Labels[0], about})
	case "resource", "data":
		m.Resources = append(m.Resources, [3]string{block.Labels[0], block.Labels[1], map[string]string{"resource": "resource", "data": "data source"}[block.Type]})
	case "module":
		from, err := text("source")
		if err != nil {
			return err
		}
		m.Modules = append(m.Modules, [2]string{block.Labels[0], from})
	case "terraform":
		version, err := text("required_version")
		if err != nil {
			return err
		}
		m.Requirements = append(m.Requirements, [2]string{"terraform", version})
		for _, inner := range block.Body.Blocks {
			for name, a := range inner.Body.Attributes {
				value, problems := a.Expr.Value(nil)
				if problems.HasErrors() {
					return problems
				}
				m.Requirements = append(m.Requirements, [2]string{name, value.GetAttr("version").AsString()})
			}
		}
	}
	return nil
}

// The marks between which terraform-docs writes, and so this program.
const (
	begins = "<!-- BEGIN_TF_DOCS -->\n"
	ends   = "<!-- END_TF_DOCS -->\n"
)

// document writes a README's tables anew and leaves what stands around them.
func document(name string, m module) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(text), begins)
	_, after, closed := strings.Cut(rest, ends)
	if !ok || !closed {
		return fmt.Errorf("%s has no place for its tables: %q to %q", name, strings.TrimSpace(begins), strings.TrimSpace(ends))
	}
	return os.WriteFile(name, []byte(before+begins+m.tables()+ends+after), 0o644)
}

// tables are in the form of terraform-docs (its formatter "markdown table").
func (m module) tables() string {
	var b strings.Builder
	table := func(title, none string, head []string, rows [][]string) {
		fmt.Fprintf(&b, "## %s\n\n", title)
		if len(rows) == 0 {
			fmt.Fprintf(&b, "%s\n\n", none)
			return
		}
		fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(head, " | "), strings.Repeat("------|", len(head)))
		for _, r := range rows {
			fmt.Fprintf(&b, "| %s |\n", strings.Join(r, " | "))
		}
		b.WriteString("\n")
	}
	var needs, parts, resources, inputs, outputs [][]string
	for _, r := range m.Requirements {
		needs = append(needs, []string{r[0], cell(r[1])})
	}
	for _, r := range m.Modules {
		parts = append(parts, []string{r[0], r[1]})
	}
	for _, r := range m.Resources {
		resources = append(resources, []string{r[0] + "." + r[1], r[2]})
	}
	for _, v := range m.Variables {
		value, required := "`"+v.Default+"`", "no"
		if v.Default == "" {
			value, required = "n/a", "yes"
		}
		inputs = append(inputs, []string{v.Name, cell(v.Description), "`" + v.Type + "`", cell(value), required})
	}
	for _, o := range m.Outputs {
		outputs = append(outputs, []string{o.Name, cell(o.Description)})
	}
	table("Requirements", "No requirements.", []string{"Name", "Version"}, needs)
	table("Modules", "No modules.", []string{"Name", "Source"}, parts)
	table("Resources", "No resources.", []string{"Name", "Type"}, resources)
	table("Inputs", "No inputs.", []string{"Name", "Description", "Type", "Default", "Required"}, inputs)
	table("Outputs", "No outputs.", []string{"Name", "Description"}, outputs)
	return strings.TrimSuffix(b.String(), "\n")
}

// cell is a text in a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "*", `\*`).Replace(text)
}
