package userdata

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// looksLikeSettings tells Bottlerocket's settings: a table or a key that
// begins with settings.
func looksLikeSettings(text string) bool {
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(strings.TrimSpace(line), `[ "'`)
		if strings.HasPrefix(line, "settings.") || strings.HasPrefix(line, `settings".`) || strings.HasPrefix(line, "settings]") {
			return true
		}
	}
	return false
}

// bottlerocket reads settings.kubernetes. The names are those of
// bottlerocket.dev, "settings.kubernetes.*".
func (d *reader) bottlerocket(text string) {
	d.add(Bottlerocket)
	if !d.budget.spend(Work, formatWork*len(text)) {
		return
	}
	var doc map[string]any
	if err := toml.Unmarshal([]byte(text), &doc); err != nil {
		f := Fault{Kind: BadTOML, Detail: "the settings are no valid TOML"}
		var bad *toml.DecodeError
		if errors.As(err, &bad) {
			f.Line, _ = bad.Position()
		}
		d.Faults = append(d.Faults, f)
		return
	}
	settings := table(doc["settings"])
	k := table(settings["kubernetes"])
	for _, f := range []struct {
		key string
		to  *Setting
	}{{"cluster-name", &d.Name}, {"api-server", &d.Endpoint}, {"cluster-certificate", &d.CA}} {
		switch v := k[f.key].(type) {
		case nil:
		case string:
			f.to.set(Setting{Value: strings.TrimSpace(v), Given: true})
		default:
			d.Faults = append(d.Faults, Fault{Kind: BadType, Detail: fmt.Sprintf("settings.kubernetes.%s is not a string", f.key)})
		}
	}
	switch v := k["cluster-dns-ip"].(type) {
	case string:
		d.DNS = []string{v}
	case []any:
		d.DNS = nil
		for _, ip := range v {
			d.DNS = append(d.DNS, fmt.Sprint(ip))
		}
	}
	if v, ok := k["max-pods"]; ok {
		d.MaxPods.set(Setting{Value: fmt.Sprint(v), Given: true})
	}
	for key, v := range table(k["node-labels"]) {
		d.label(key, fmt.Sprint(v))
	}
	// Bootstrap containers and commands may set anything through the API, and
	// other ways to authenticate need other settings.
	if settings["bootstrap-containers"] != nil || settings["bootstrap-commands"] != nil || k["standalone-mode"] != nil || k["authentication-mode"] != nil {
		d.scripted("Bottlerocket settings")
	}
}

func table(v any) map[string]any {
	t, _ := v.(map[string]any)
	return t
}
