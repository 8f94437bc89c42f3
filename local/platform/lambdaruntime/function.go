package lambdaruntime

import "sync"

// function is a function with its processes.
type function struct {
	Function
	slots chan struct{} // one for each invocation that runs

	mu   sync.Mutex
	free []*environment // wait for an event
	all  map[*environment]bool
	// version counts how often the function was configured anew.
	version int
}

// configure changes the variables of the processes that start from now on, and
// ends those that wait for an event.
func (f *function) configure(env map[string]string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Env = env
	f.version++
	for _, e := range f.free {
		delete(f.all, e)
		e.kill()
	}
	f.free = nil
}

// replace changes the program of the processes that start from now on, and ends
// those that wait for an event.
func (f *function) replace(binary string) {
	f.mu.Lock()
	f.Binary = binary
	env := f.Env
	f.mu.Unlock()
	f.configure(env)
}

// configuration is what a process starts with.
func (f *function) configuration() (binary string, env map[string]string, version int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.Binary, f.Env, f.version
}

// idle takes a waiting process, the one used last first, as Lambda does; nil
// if there is none.
func (f *function) idle() *environment {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.free) > 0 {
		e := f.free[len(f.free)-1]
		f.free = f.free[:len(f.free)-1]
		if !e.ended() {
			return e
		}
		delete(f.all, e)
	}
	return nil
}

func (f *function) add(e *environment) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all == nil {
		f.all = make(map[*environment]bool)
	}
	f.all[e] = true
}

// giveBack keeps a process for the next event, unless its configuration is an
// old one.
func (f *function) giveBack(e *environment) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e.version != f.version {
		delete(f.all, e)
		e.kill()
		return
	}
	f.free = append(f.free, e)
}

func (f *function) forget(e *environment) {
	e.kill()
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.all, e)
}

func (f *function) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for e := range f.all {
		e.kill()
	}
	f.all, f.free = nil, nil
}
