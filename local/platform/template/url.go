package template

// URL is an AWS::Lambda::Url.
type URL struct {
	LogicalID    string
	FunctionName string
	// AuthType is NONE or AWS_IAM.
	AuthType string
	// Address is what stands for the address that Lambda would choose.
	Address string
}

func (t *Template) addURL(id string, n named, properties map[string]any) error {
	var p struct {
		TargetFunctionArn, AuthType, InvokeMode string
		Cors, Tags                              inert
	}
	if err := decode(id, properties, &p); err != nil {
		return err
	}
	at := place{id, "Properties"}
	if p.AuthType != "NONE" && p.AuthType != "AWS_IAM" {
		return at.at("AuthType").refuse("%q is not NONE or AWS_IAM", p.AuthType)
	}
	if p.InvokeMode != "" && p.InvokeMode != "BUFFERED" {
		return at.at("InvokeMode").refuse("the stage does not serve %q", p.InvokeMode)
	}
	t.URLs = append(t.URLs, URL{LogicalID: id, FunctionName: functionName(p.TargetFunctionArn), AuthType: p.AuthType, Address: n.attributes["FunctionUrl"]})
	return nil
}

// urlActions are what a caller needs of a function with AuthType NONE; since
// October 2025 both (Lambda, "Control access to Lambda function URLs").
func urlActions() []string { return []string{"lambda:InvokeFunctionUrl", "lambda:InvokeFunction"} }

// checkURL refuses an address that nobody could call.
func (t *Template) checkURL(u URL, refuse func(id, path, format string, args ...any)) {
	if _, ok := t.Function(u.FunctionName); !ok {
		refuse(u.LogicalID, "Properties.TargetFunctionArn", "function %q is not in the template", u.FunctionName)
	}
	if u.AuthType != "NONE" {
		return
	}
	for _, action := range urlActions() {
		let := false
		for _, p := range t.Permissions {
			let = let || p.FunctionName == u.FunctionName && p.Action == action && p.Principal == "*" &&
				(p.URLAuthType == "NONE" || action == "lambda:InvokeFunction" && p.ViaURL)
		}
		if !let {
			refuse(u.LogicalID, "Properties.AuthType", "nobody may %s: Lambda would answer 403", action)
		}
	}
}
