package spec

// Choices are the grants of several choices together.
func Choices(list ...func(getenv func(string) string) ([]Grant, error)) func(getenv func(string) string) ([]Grant, error) {
	return func(getenv func(string) string) ([]Grant, error) {
		var all []Grant
		for _, chosen := range list {
			grants, err := chosen(getenv)
			if err != nil {
				return nil, err
			}
			all = append(all, grants...)
		}
		return all, nil
	}
}
