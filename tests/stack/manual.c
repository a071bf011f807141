/* The manual, the completion of shells and the lists of variables agree with the command and the code. */
#include <ctype.h>
#include <glob.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check.h"

static char text[1 << 18]; /* of the file or command that was read last */

static int read_stream(FILE *stream)
{
	size_t n = stream ? fread(text, 1, sizeof(text) - 1, stream) : 0;

	text[n] = 0;
	return CHECK(n < sizeof(text) - 1);
}

static void read_file(const char *path)
{
	FILE *file = fopen(path, "re");

	if (!CHECK(file))
		printf("  %s cannot be read\n", path);
	read_stream(file);
	if (file)
		fclose(file);
}

/* Runs a command of the shell; gives its status. */
static int run(const char *command)
{
	FILE *pipe = popen(command, "r");
	int status;

	read_stream(pipe);
	status = pclose(pipe);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void tuff(const char *arguments)
{
	char command[256];

	snprintf(command, sizeof(command), "$O/tuff %s", arguments);
	CHECK_EQ(run(command), 0);
}

static bool have(const char *program)
{
	char command[64];

	snprintf(command, sizeof(command), "command -v %s", program);
	return !run(command);
}

/* --- sets of words ---------------------------------------------------------------------------- */

#define WORDS_MAX 256

struct words {
	char word[WORDS_MAX][48];
	unsigned count;
};

static bool has(const struct words *w, const char *word)
{
	for (unsigned i = 0; i < w->count; i++)
		if (!strcmp(w->word[i], word))
			return true;
	return false;
}

/* Adds what begins at `at` and consists of letters and the other characters, behind prefix. */
static void add(struct words *w, const char *prefix, const char *at, const char *others)
{
	unsigned n = 0;
	char word[48];

	while (isalpha((unsigned char)at[n]) || (at[n] && strchr(others, at[n])))
		n++;
	snprintf(word, sizeof(word), "%s%.*s", prefix, (int)n, at);
	if (n && !has(w, word) && CHECK(w->count < WORDS_MAX))
		strcpy(w->word[w->count++], word);
}

/* Adds a word of each place of the text that begins with mark. */
static void collect(struct words *w, const char *mark, const char *prefix, const char *others)
{
	for (const char *at = text; (at = strstr(at, mark)); at++)
		add(w, prefix, at + strlen(mark), others);
}

/* Each word of a stands in b. */
static void within(const struct words *a, const struct words *b, const char *where)
{
	for (unsigned i = 0; i < a->count; i++)
		if (!CHECK(has(b, a->word[i])))
			printf("  %s does not know %s\n", where, a->word[i]);
}

static void same(const struct words *a, const char *a_name, const struct words *b, const char *b_name)
{
	CHECK(a->count && b->count);
	within(a, b, b_name);
	within(b, a, a_name);
}

/* --- what the command says -------------------------------------------------------------------- */

static struct words commands;

/* Options of a usage text: all, and those that take a value. */
static void read_usage(const char *command, struct words *options, struct words *with_value)
{
	char arguments[64];

	snprintf(arguments, sizeof(arguments), "%s --help", command);
	tuff(arguments);
	collect(options, "\n  --", "--", "-");
	for (const char *at = text; with_value && (at = strstr(at, "\n  --")); at++) {
		const char *value = at + 3 + strcspn(at + 3, " ");

		if (isupper((unsigned char)value[1]))
			add(with_value, "--", at + 5, "-");
	}
}

static void commands_are_in_the_manual(void)
{
	struct words options = {0}, in_page = {0}, page_options = {0}, pages = {0};
	glob_t found;

	read_usage("", &options, NULL);
	collect(&commands, "\n  ", "", "");
	read_file("docs/man/tuff.1");
	collect(&page_options, "\n.It Fl -", "--", "-");
	collect(&in_page, "\n.It Cm ", "", "");
	same(&options, "tuff --help", &page_options, "tuff(1)");
	same(&commands, "tuff --help", &in_page, "tuff(1)");
	CHECK_EQ(glob("docs/man/tuff-*.1", 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++)
		add(&pages, "", found.gl_pathv[i] + strlen("docs/man/tuff-"), "");
	globfree(&found);
	same(&commands, "tuff --help", &pages, "docs/man/");
}

static void options_are_in_the_manual(void)
{
	char page[64];

	for (unsigned i = 0; i < commands.count; i++) {
		struct words options = {0}, in_page = {0};

		read_usage(commands.word[i], &options, NULL);
		snprintf(page, sizeof(page), "docs/man/tuff-%s.1", commands.word[i]);
		read_file(page);
		collect(&in_page, "\n.It Fl -", "--", "-");
		same(&options, commands.word[i], &in_page, page);
	}
}

#define PAGES "docs/man/*.[17] $(find $O/man3 -type f)"

/* A formatter warns of what it does not understand, mandoc's linter of more; each is used where it is installed. */
static void pages_are_well_formed(void)
{
	if (have("groff")) {
		CHECK_EQ(run("for page in " PAGES "; do groff -mdoc -Tutf8 -ww -z $page 2>&1; done"), 0);
		CHECK_STR(text, "");
	}
	if (!have("mandoc"))
		printf("no mandoc here: its linter does not check the manual\n");
	else if (!CHECK_EQ(run("mandoc -T lint -W warning " PAGES), 0))
		printf("  %s\n", text);
}

/* Each function that the headers declare, also across lines, has a page that describes it. */
static void functions_are_in_the_manual(void)
{
	struct words functions = {0};
	char wanted[256];

	CHECK_EQ(
		run("cat include/tuff/*.h | tr '\n' ' ' | grep -oE 'TUFF_(API|INLINE) [^(]*' | grep -oE 'tuff_[a-z0-9_]+$'"),
		0);
	collect(&functions, "tuff_", "tuff_", "_0123456789");
	CHECK(functions.count > 70);
	for (unsigned i = 0; i < functions.count; i++) {
		snprintf(wanted, sizeof(wanted), "%s/man3/%s.3", getenv("O"), functions.word[i]);
		read_file(wanted);
		snprintf(wanted, sizeof(wanted), "\n.Fo %s\n", functions.word[i]);
		CHECK(strstr(text, wanted));
		snprintf(wanted, sizeof(wanted), "\n.It Fn %s", functions.word[i]);
		if (!CHECK(strstr(text, wanted)))
			printf("  the manual does not describe %s()\n", functions.word[i]);
	}
}

/* --- variables -------------------------------------------------------------------------------- */

/* Names of variables have capital letters and a line between two of them. */
static bool is_variable(const char *word)
{
	for (const char *at = word; *at; at++)
		if (!isupper((unsigned char)*at) && *at != '_')
			return false;
	return isupper((unsigned char)*word) && (strchr(word, '_') || !strcmp(word, "TMPDIR"));
}

static void keep_variables(struct words *all, struct words *names)
{
	for (unsigned i = 0; i < all->count; i++) {
		char *end = all->word[i] + strlen(all->word[i]) - 1;

		if (*end == '_') /* one for each of something */
			*end = 0;
		if (is_variable(all->word[i]))
			add(names, "", all->word[i], "_");
	}
}

static bool is_source(const char *path)
{
	return !strstr(path, "_test.c") && !strstr(path, "test_code.h");
}

/* Names that the files have behind a mark, which has their prefix. */
static void read_code(const char *pattern, const char *mark, const char *prefix, struct words *names)
{
	glob_t found;

	CHECK_EQ(glob(pattern, GLOB_BRACE, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++)
		if (is_source(found.gl_pathv[i])) {
			struct words all = {0};

			read_file(found.gl_pathv[i]);
			collect(&all, mark, prefix, "_");
			keep_variables(&all, names);
		}
	globfree(&found);
}

/* Names at the beginnings of a text's lines. */
static void read_list(const char *path, const char *begin, struct words *names)
{
	struct words all = {0};

	read_file(path);
	collect(&all, begin, "", "_");
	keep_variables(&all, names);
}

/* Whether each call of getenv() in `text` is one of secure_getenv(). */
static bool reads_safely(void)
{
	const char *const safe = "secure_";

	for (const char *at = text; (at = strstr(at, "getenv(")); at++)
		if (at < text + strlen(safe) || memcmp(at - strlen(safe), safe, strlen(safe)))
			return false;
	return true;
}

/* The libraries read the environment in one file, whose names the lists have. The virtual GPU takes nothing from the
 * caller of a program that has more rights. */
static void variables_are_read_safely(void)
{
	glob_t found;

	CHECK_EQ(glob("{drv,vm,cs,sdma,flow,pool,hsa,embed,api,vgpu}/{,*/,*/*/}*.[ch]", GLOB_BRACE, NULL, &found),
		 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const char *path = found.gl_pathv[i];

		if (!is_source(path) || !strcmp(path, "drv/config.c"))
			continue;
		read_file(path);
		if (!CHECK(strncmp(path, "vgpu/", 5) ? !strstr(text, "getenv(") : reads_safely()))
			printf("  %s reads a variable\n", path);
	}
	globfree(&found);
}

static void variables_are_listed(void)
{
	struct words driver = {0}, gpu = {0}, page = {0}, listed = {0}, gpu_listed = {0};

	read_code("drv/config.c", "\"", "", &driver);
	read_code("{vgpu,vgpu/*}/*.[ch]", "getenv(\"", "", &gpu);
	read_code("{vgpu,vgpu/*}/*.[ch]", "\"TUFF_", "TUFF_", &gpu);
	read_list("docs/variables.md", "\n| `", &listed);
	read_list("docs/vgpu.md", "\n| `", &gpu_listed);
	read_list("docs/man/tuff-variables.7", "\n.It Ev ", &page);
	same(&driver, "the code", &listed, "docs/variables.md");
	same(&gpu, "vgpu/", &gpu_listed, "docs/vgpu.md");
	within(&driver, &page, "tuff-variables(7)");
	within(&gpu, &page, "tuff-variables(7)");
	CHECK_EQ(page.count, driver.count + gpu.count);
}

/* --- completion ------------------------------------------------------------------------------- */

/* The shells, and what prints the words that may follow "tuff $BEFORE" and begin with $WORD, each on a line. */
static const struct {
	const char *shell, *file, *ask;
} shells[] = {
	{"bash", "tools/completion/tuff.bash",
	 "bash -c '. tools/completion/tuff.bash; COMP_WORDS=($O/tuff $BEFORE \"$WORD\"); "
	 "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _tuff; printf \"\\n%s\" \"${COMPREPLY[@]}\"'"},
	{"zsh", "tools/completion/tuff.zsh",
	 "zsh -fc '_describe() { print -l -- \"\" ${${(@P)4}%%:*} }; compset() { }; "
	 "words=($O/tuff ${=BEFORE} \"$WORD\"); CURRENT=$#words; . tools/completion/tuff.zsh'"},
	{"fish", "tools/completion/tuff.fish",
	 "HOME=/nowhere fish --no-config -c 'set PATH $O $PATH; source tools/completion/tuff.fish; echo; "
	 "complete -C \"tuff $BEFORE $WORD\"' 2>/dev/null"},
};

/* What a shell offers. */
static void ask(unsigned shell, const char *before, const char *word, struct words *offered)
{
	setenv("BEFORE", before, 1);
	setenv("WORD", word, 1);
	CHECK_EQ(run(shells[shell].ask), 0);
	*offered = (struct words){0};
	collect(offered, "\n", "", "-/0123456789");
}

/* The first words of what the command lists. */
static void read_listing(const char *arguments, struct words *names)
{
	char command[64];

	snprintf(command, sizeof(command), "echo; $O/tuff %s", arguments);
	CHECK_EQ(run(command), 0);
	collect(names, "\n", "", "-/0123456789");
}

static void shell_completes(unsigned shell, const struct words *tests, const struct words *chips)
{
	const char *name = shells[shell].shell;
	struct words offered;

	ask(shell, "", "", &offered);
	within(&commands, &offered, name);
	for (unsigned i = 0; i < commands.count; i++) {
		struct words options = {0};

		read_usage(commands.word[i], &options, NULL);
		ask(shell, commands.word[i], "--", &offered);
		same(&options, commands.word[i], &offered, name);
	}
	ask(shell, "run --gpu", "gfx", &offered);
	same(&offered, name, chips, "tuff run --list");
	ask(shell, "test", "", &offered);
	same(&offered, name, tests, "tuff test --list");
}

/* Options with a value have a rule, and no rule is for an option that is not there. */
static void rules_are_for_options(unsigned shell)
{
	struct words options = {0}, with_value = {0}, ruled = {0};

	for (unsigned i = 0; i < commands.count; i++)
		read_usage(commands.word[i], &options, &with_value);
	read_file(shells[shell].file);
	collect(&ruled, " --", "--", "-");
	collect(&ruled, "\t--", "--", "-");
	within(&with_value, &ruled, shells[shell].file);
	within(&ruled, &options, "the command");
}

static void shells_complete(void)
{
	struct words tests = {0}, chips = {0};

	read_listing("test --list --probe", &tests);
	read_listing("run --list", &chips);
	for (unsigned i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
		rules_are_for_options(i);
		if (have(shells[i].shell))
			shell_completes(i, &tests, &chips);
		else
			printf("no %s here: its completion is not tried\n", shells[i].shell);
	}
}

int main(void)
{
	if (access("docs/man", R_OK)) {
		printf("SKIP not in the source tree\n");
		return 77;
	}
	setenv("O", "build/release", 0);
	commands_are_in_the_manual();
	options_are_in_the_manual();
	functions_are_in_the_manual();
	pages_are_well_formed();
	variables_are_read_safely();
	variables_are_listed();
	shells_complete();
	return check_done("the manual");
}
