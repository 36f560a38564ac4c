/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/link/tuning_choice.h"

#include <stdlib.h>

#include "mli_helpers_api.h"
#include "target/tuning/tuning_file.h"

/* Loads the default tuning file. An invalid file does not stop the command, because the user has
 * not named the file. */
static int load_default(char note[TUNING_NOTE_MAX], struct fault *fault)
{
    char path[TUNING_PATH_MAX];
    enum tuning_use use;

    if (!tuning_default_path(path))
        return tuning_load(NULL, &use, note, fault);
    if (tuning_load(path, &use, note, fault) == 0)
        return 0;
    print_error("the tuning is ignored: %s", fault->text);
    return tuning_load(NULL, &use, note, fault);
}

enum exit_code tuning_choose(const struct options *options)
{
    const struct print_style style = options_style(options);
    const char *path = options_get(options, "tuning"), *variable = getenv("MLI_TUNING");
    char note[TUNING_NOTE_MAX];
    struct fault fault;
    enum tuning_use use;
    int result;

    if (!path && !variable)
        result = load_default(note, &fault);
    else if (!path && *variable == '\0')
        result = tuning_load(NULL, &use, note, &fault);
    else
        result = tuning_load(path ? path : variable, &use, note, &fault);
    for (int i = 0; mli_cpu_ignored(i); i++)
        print_error("%s is ignored: \"%s\" given; it must be a number", mli_cpu_ignored(i),
                    getenv(mli_cpu_ignored(i)));
    if (result < 0)
        return print_failure(&style, NULL, &fault);
    if (*note)
        print_error("%s", note);
    return EXIT_CODE_DONE;
}
