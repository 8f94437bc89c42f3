package lambdaruntime

// Kill kills the processes of a function that wait for an event, as Lambda
// does with those that it no longer needs. The next invocation starts a new one.
func (r *Runtime) Kill(name string) {
	f, err := r.begin(name)
	if err != nil {
		return // closed, or no such function: nothing to kill
	}
	defer r.end()
	for e := f.idle(); e != nil; e = f.idle() {
		f.forget(e)
	}
}
