package kubeapi

import "strings"

// discovery answers the paths by which a client learns what is served. It
// returns nil for other paths.
func discovery(path, version string, kinds []Kind) any {
	switch strings.Trim(path, "/") {
	case "version":
		major, minor, _ := strings.Cut(version, ".")
		return map[string]any{"major": major, "minor": minor, "gitVersion": "v" + version + ".0-eks-stage", "platform": "linux/amd64"}
	case "api":
		return map[string]any{"kind": "APIVersions", "versions": []string{"v1"}, "serverAddressByClientCIDRs": []any{}}
	case "apis":
		list := []any{}
		for _, g := range groups(kinds) {
			list = append(list, apiGroup(g, kinds))
		}
		return map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": list}
	case "api/v1":
		return resourceList("", "v1", kinds)
	}
	for _, g := range groups(kinds) {
		switch strings.Trim(path, "/") {
		case "apis/" + g:
			group := apiGroup(g, kinds)
			group["kind"], group["apiVersion"] = "APIGroup", "v1"
			return group
		case "apis/" + g + "/" + versionOf(g, kinds):
			return resourceList(g, versionOf(g, kinds), kinds)
		}
	}
	return nil
}

// versionOf is the one version in which a group is served.
func versionOf(group string, kinds []Kind) string {
	for _, k := range kinds {
		if k.Group == group {
			return k.Version
		}
	}
	return "v1"
}

func apiGroup(name string, kinds []Kind) map[string]any {
	v := versionOf(name, kinds)
	version := map[string]string{"groupVersion": name + "/" + v, "version": v}
	return map[string]any{"name": name, "versions": []any{version}, "preferredVersion": version}
}

func resourceList(group, version string, kinds []Kind) any {
	resources := []any{}
	groupVersion := version
	for _, k := range kinds {
		if k.Group != group || k.Version != version {
			continue
		}
		groupVersion = k.groupVersion()
		resources = append(resources, map[string]any{
			"name": k.Plural, "singularName": k.Singular, "namespaced": k.Namespaced, "kind": k.Kind,
			"verbs": []string{"get", "list"}, "shortNames": k.Short,
		})
	}
	return map[string]any{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": groupVersion, "resources": resources}
}
