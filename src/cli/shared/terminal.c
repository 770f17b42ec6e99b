#include "cli/shared/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

enum { COLUMNS_DEFAULT = 80, ROWS_DEFAULT = 24, SIDE_MAX = 10000 };

static uint32_t side_of(unsigned short side, uint32_t otherwise)
{
    return side == 0 ? otherwise : side > SIDE_MAX ? SIDE_MAX : side;
}

void terminal_size(int fd, uint32_t *ret_columns, uint32_t *ret_rows)
{
    struct winsize size = {0};

    if (ioctl(fd, TIOCGWINSZ, &size) < 0) {
        size = (struct winsize){0};
    }
    *ret_columns = side_of(size.ws_col, COLUMNS_DEFAULT);
    *ret_rows = side_of(size.ws_row, ROWS_DEFAULT);
}

void terminal_begin(struct terminal *terminal, int fd)
{
    *terminal = (struct terminal){.fd = fd};
    if (tcgetattr(fd, &terminal->before) == 0) {
        struct termios raw = terminal->before;
        cfmakeraw(&raw);
        terminal->is_raw = tcsetattr(fd, TCSADRAIN, &raw) == 0;
    }
}

void terminal_end(struct terminal *terminal)
{
    if (terminal->is_raw) {
        (void)tcsetattr(terminal->fd, TCSADRAIN, &terminal->before);
        terminal->is_raw = false;
    }
}
