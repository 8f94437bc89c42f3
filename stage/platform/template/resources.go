package template

import (
	"maps"
	"slices"
	"strings"
)

// Resource is a resource of a template as CloudFormation handles it: what it is made of, and
// which resources come before it.
type Resource struct {
	LogicalID, Type string
	// PhysicalID is its name, or the one that the stage generates. Named reports whether the
	// template gives the name.
	PhysicalID string
	Named      bool
	Properties map[string]any
	// Deletion is the DeletionPolicy, "" where none is given (Delete, or for a few types
	// Snapshot: CloudFormation user guide, "DeletionPolicy attribute").
	Deletion string
	// Folder is the function's folder below functions/ (Metadata Rollcall::Folder).
	Folder string
	after  []string
}

// Resources returns the resources of a template in an order in which CloudFormation can make
// them: each after those that it refers to.
func Resources(source []byte, o Options) ([]Resource, error) {
	r, err := open(source, o)
	if err != nil {
		return nil, err
	}
	doc, byID := r.doc, map[string]Resource{}
	for _, id := range slices.Sorted(maps.Keys(doc.Resources)) {
		raw := doc.Resources[id]
		properties, err := r.properties(id)
		if err != nil {
			return nil, err
		}
		name, err := r.named(id, place{id, "Properties"})
		if err != nil {
			return nil, err
		}
		folder, _ := raw.Metadata["Rollcall::Folder"].(string)
		property := nameProperty(raw.Type)
		x := Resource{
			LogicalID: id, Type: raw.Type, PhysicalID: name.ref, Named: property != "" && raw.Properties[property] != nil,
			Properties: properties, Deletion: raw.DeletionPolicy, Folder: strings.TrimPrefix(folder, "functions/"),
		}
		references(raw.Properties, &x.after)
		references(map[string]any{"DependsOn": raw.DependsOn}, &x.after)
		byID[id] = x
	}
	return ordered(byID), nil
}

// references collects the logical ids that a value names, and what else is written like one.
func references(v any, into *[]string) {
	switch v := v.(type) {
	case map[string]any:
		for key, x := range v {
			name, text := x.(string)
			list, _ := x.([]any)
			switch {
			case text && (key == "Ref" || key == "DependsOn"):
				*into = append(*into, name)
			case text && key == "Fn::GetAtt":
				id, _, _ := strings.Cut(name, ".")
				*into = append(*into, id)
			case len(list) > 0 && (key == "Fn::GetAtt" || key == "DependsOn"):
				for _, item := range list {
					if id, ok := item.(string); ok {
						*into = append(*into, id)
					}
				}
			case key == "Fn::Sub":
				substituted(x, into)
			default:
				references(x, into)
			}
		}
	case []any:
		for _, x := range v {
			references(x, into)
		}
	}
}

// substituted collects the names in the text of Fn::Sub.
func substituted(v any, into *[]string) {
	if list, ok := v.([]any); ok {
		for _, x := range list {
			substituted(x, into)
		}
		return
	}
	text, ok := v.(string)
	if !ok {
		references(v, into)
		return
	}
	for _, part := range strings.Split(text, "${")[1:] {
		name, _, _ := strings.Cut(part, "}")
		id, _, _ := strings.Cut(name, ".")
		*into = append(*into, id)
	}
}

// ordered puts resources after those that they refer to, by logical id where there is a choice.
func ordered(byID map[string]Resource) (list []Resource) {
	done := map[string]bool{}
	var visit func(id string)
	visit = func(id string) {
		x, ok := byID[id]
		if !ok || done[id] {
			return
		}
		done[id] = true
		slices.Sort(x.after)
		for _, before := range x.after {
			visit(before)
		}
		list = append(list, x)
	}
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		visit(id)
	}
	return list
}
