package lambdaruntime

import (
	"sort"
	"strconv"
)

// variables is the whole environment of a process: nothing is inherited from
// the stage, so that a function cannot depend on it. A function's own
// variables cannot replace the reserved ones, as on Lambda; region and
// credentials can be given, because the stage's caller is who hands them out.
func (r *Runtime) variables(f *function, dir string, own map[string]string, api string) []string {
	all := map[string]string{
		"AWS_REGION":         r.o.Region,
		"AWS_DEFAULT_REGION": r.o.Region,
		"LANG":               "en_US.UTF-8",
		"TZ":                 ":UTC",
		"PATH":               "/usr/local/bin:/usr/bin:/bin",
	}
	for k, v := range own {
		all[k] = v
	}
	for k, v := range map[string]string{
		"AWS_LAMBDA_RUNTIME_API":          api,
		"AWS_LAMBDA_FUNCTION_NAME":        f.Name,
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": strconv.Itoa(f.Memory),
		"AWS_LAMBDA_FUNCTION_VERSION":     "$LATEST",
		"AWS_LAMBDA_INITIALIZATION_TYPE":  "on-demand",
		"AWS_LAMBDA_LOG_GROUP_NAME":       "/aws/lambda/" + f.Name,
		"AWS_LAMBDA_LOG_STREAM_NAME":      "stage/[$LATEST]" + f.Name,
		"AWS_EXECUTION_ENV":               "AWS_Lambda_provided.al2023",
		"LAMBDA_TASK_ROOT":                dir,
		"LAMBDA_RUNTIME_DIR":              "/var/runtime",
		"_HANDLER":                        f.Handler,
	} {
		all[k] = v
	}
	out := make([]string, 0, len(all))
	for k, v := range all {
		out = append(out, k+"="+v)
	}
	sort.Strings(out)
	return out
}
