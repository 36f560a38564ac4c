/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/port/vfio/vfio.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define SYSFS "/sys/bus/pci/devices/"

enum { PATH_SIZE = 96, LINK_SIZE = 256, INFO_SIZE = 4096 };

/* Writes a reason. Returns false. */
__attribute__((format(printf, 2, 3))) static bool explain(vfio_why why, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    vsnprintf(why, VFIO_WHY_SIZE, format, values);
    va_end(values);
    return false;
}

/* Reads a number of sysfs. Returns -1 if there is no such file. */
static long read_number(const char *address, const char *name)
{
    char path[PATH_SIZE], text[16] = "";
    ssize_t size;
    int fd;

    snprintf(path, sizeof(path), SYSFS "%s/%s", address, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    size = read(fd, text, sizeof(text) - 1);
    close(fd);
    return size > 0 ? strtol(text, NULL, 0) : -1;
}

/* Copies the last part of a link of sysfs. Returns false if there is no such link. */
static bool read_link(const char *address, const char *name, char last[LINK_SIZE])
{
    char path[PATH_SIZE], target[LINK_SIZE];
    const char *slash;
    ssize_t size;

    snprintf(path, sizeof(path), SYSFS "%s/%s", address, name);
    size = readlink(path, target, sizeof(target) - 1);
    if (size < 0)
        return false;
    target[size] = '\0';
    slash = strrchr(target, '/');
    strcpy(last, slash ? slash + 1 : target);
    return true;
}

int vfio_device_find(const char *address, uint16_t *vendor, uint16_t *id, vfio_why why)
{
    const long vendor_number = read_number(address, "vendor");
    const long id_number = read_number(address, "device");
    char name[LINK_SIZE];

    if (vendor_number < 0 || id_number < 0) {
        explain(why, "vfio: there is no PCI device %s (lspci -D lists them)", address);
        return -1;
    }
    if (!read_link(address, "driver", name) || strcmp(name, "vfio-pci") != 0) {
        explain(why, "vfio: %s is not bound to the driver vfio-pci", address);
        return -1;
    }
    if (!read_link(address, "iommu_group", name)) {
        explain(why, "vfio: %s is not behind an IOMMU", address);
        return -1;
    }
    *vendor = (uint16_t)vendor_number;
    *id = (uint16_t)id_number;
    return (int)strtol(name, NULL, 10);
}

static bool open_container(struct vfio_device *d, vfio_why why)
{
    d->container = open("/dev/vfio/vfio", O_RDWR | O_CLOEXEC);
    if (d->container < 0)
        return explain(why, "vfio: /dev/vfio/vfio: %s", strerror(errno));
    if (ioctl(d->container, VFIO_GET_API_VERSION) != VFIO_API_VERSION ||
        ioctl(d->container, VFIO_CHECK_EXTENSION, VFIO_TYPE1v2_IOMMU) != 1)
        return explain(why, "vfio: the kernel has no IOMMU of type 1 for VFIO");
    return true;
}

static bool open_group(struct vfio_device *d, int number, vfio_why why)
{
    struct vfio_group_status status = {.argsz = sizeof(status)};
    char path[PATH_SIZE];

    snprintf(path, sizeof(path), "/dev/vfio/%d", number);
    d->group = open(path, O_RDWR | O_CLOEXEC);
    if (d->group < 0)
        return explain(why, "vfio: %s: %s", path, strerror(errno));
    if (ioctl(d->group, VFIO_GROUP_GET_STATUS, &status) < 0 ||
        !(status.flags & VFIO_GROUP_FLAGS_VIABLE))
        return explain(why, "vfio: %s: other devices of the IOMMU group are not bound to vfio-pci",
                       path);
    if (ioctl(d->group, VFIO_GROUP_SET_CONTAINER, &d->container) < 0 ||
        ioctl(d->container, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU) < 0)
        return explain(why, "vfio: %s: the IOMMU cannot be used: %s", path, strerror(errno));
    return true;
}

static bool map_registers(struct vfio_device *d, const struct vfio_controller *controller,
                          vfio_why why)
{
    struct vfio_region_info bar = {.argsz = sizeof(bar),
                                   .index = VFIO_PCI_BAR0_REGION_INDEX + controller->bar};
    struct vfio_region_info config = {.argsz = sizeof(config),
                                      .index = VFIO_PCI_CONFIG_REGION_INDEX};
    void *registers;

    if (ioctl(d->device, VFIO_DEVICE_GET_REGION_INFO, &config) < 0 ||
        ioctl(d->device, VFIO_DEVICE_GET_REGION_INFO, &bar) < 0 ||
        !(bar.flags & VFIO_REGION_INFO_FLAG_MMAP) || bar.size < controller->registers_size)
        return explain(why, "vfio: region %u of the device cannot be mapped", controller->bar);
    d->config = config.offset;
    d->registers_size = controller->registers_size;
    registers = mmap(NULL, d->registers_size, PROT_READ | PROT_WRITE, MAP_SHARED, d->device,
                     (off_t)bar.offset);
    if (registers == MAP_FAILED)
        return explain(why, "vfio: cannot map region %u: %s", controller->bar, strerror(errno));
    d->registers = registers;
    return true;
}

/* Lets the kernel signal the first MSI of the device to an eventfd. */
static bool connect_interrupt(struct vfio_device *d, vfio_why why)
{
    union {
        struct vfio_irq_set set;
        char room[sizeof(struct vfio_irq_set) + sizeof(int)];
    } irq = {.set = {.argsz = sizeof(irq),
                     .flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER,
                     .index = VFIO_PCI_MSI_IRQ_INDEX,
                     .count = 1}};

    d->interrupt = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (d->interrupt < 0)
        return explain(why, "vfio: cannot create an eventfd: %s", strerror(errno));
    memcpy(irq.room + offsetof(struct vfio_irq_set, data), &d->interrupt, sizeof(d->interrupt));
    if (ioctl(d->device, VFIO_DEVICE_SET_IRQS, &irq) < 0)
        return explain(why, "vfio: the device has no MSI that can be used: %s", strerror(errno));
    return true;
}

static bool open_device(struct vfio_device *d, const char *address,
                        const struct vfio_controller *controller, vfio_why why)
{
    d->device = ioctl(d->group, VFIO_GROUP_GET_DEVICE_FD, address);
    if (d->device < 0)
        return explain(why, "vfio: %s: %s", address, strerror(errno));
    return map_registers(d, controller, why) && connect_interrupt(d, why);
}

bool vfio_device_open(struct vfio_device *d, const char *address,
                      const struct vfio_controller *controller, vfio_why why)
{
    uint16_t vendor, id;
    const int group = vfio_device_find(address, &vendor, &id, why);

    *d = (struct vfio_device){-1, -1, -1, -1, 0, NULL, 0};
    if (group >= 0 && open_container(d, why) && open_group(d, group, why) &&
        open_device(d, address, controller, why)) {
        if (vfio_device_set_master(d, true))
            return true;
        explain(why, "vfio: %s: the PCI configuration cannot be written", address);
    }
    vfio_device_close(d);
    return false;
}

void vfio_device_close(struct vfio_device *d)
{
    const int fds[] = {d->interrupt, d->device, d->group, d->container};

    if (d->registers)
        munmap(d->registers, d->registers_size);
    for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++) {
        if (fds[i] >= 0)
            close(fds[i]);
    }
    *d = (struct vfio_device){-1, -1, -1, -1, 0, NULL, 0};
}

void vfio_device_windows(const struct vfio_device *d, struct iova_space *space)
{
    union {
        struct vfio_iommu_type1_info info;
        unsigned char bytes[INFO_SIZE];
    } all = {.info = {.argsz = sizeof(all)}};
    struct vfio_info_cap_header header;
    struct vfio_iova_range range;
    uint32_t at, count;

    if (ioctl(d->container, VFIO_IOMMU_GET_INFO, &all) < 0)
        return;
    at = all.info.flags & VFIO_IOMMU_INFO_CAPS ? all.info.cap_offset : 0;
    for (; at > 0 && at + sizeof(header) + 2 * sizeof(count) <= sizeof(all); at = header.next) {
        memcpy(&header, all.bytes + at, sizeof(header));
        if (header.id != VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE)
            continue;
        memcpy(&count,
               all.bytes + at + offsetof(struct vfio_iommu_type1_info_cap_iova_range, nr_iovas),
               sizeof(count));
        at += offsetof(struct vfio_iommu_type1_info_cap_iova_range, iova_ranges);
        for (; count-- > 0 && at + sizeof(range) <= sizeof(all); at += sizeof(range)) {
            memcpy(&range, all.bytes + at, sizeof(range));
            iova_space_allow(space, range.start, range.end);
        }
        return;
    }
    /* An older kernel does not list the ranges that the IOMMU can map. On x86, addresses from
       0xfee00000 on are the window of interrupts. */
    iova_space_allow(space, 0, 0xfedfffff);
}

int vfio_device_map(const struct vfio_device *d, const struct iova_range *range)
{
    struct vfio_iommu_type1_dma_map map = {
        .argsz = sizeof(map),
        .flags = VFIO_DMA_MAP_FLAG_READ | (range->write ? VFIO_DMA_MAP_FLAG_WRITE : 0),
        .vaddr = range->address,
        .iova = range->iova,
        .size = range->size,
    };

    return ioctl(d->container, VFIO_IOMMU_MAP_DMA, &map) < 0 ? -errno : 0;
}

void vfio_device_unmap(const struct vfio_device *d, const struct iova_range *range)
{
    struct vfio_iommu_type1_dma_unmap unmap = {
        .argsz = sizeof(unmap),
        .iova = range->iova,
        .size = range->size,
    };

    (void)ioctl(d->container, VFIO_IOMMU_UNMAP_DMA, &unmap);
}

bool vfio_device_wait(const struct vfio_device *d, int timeout_ms)
{
    struct pollfd interrupt = {.fd = d->interrupt, .events = POLLIN};
    uint64_t count;
    int ready;

    do
        ready = poll(&interrupt, 1, timeout_ms);
    while (ready < 0 && errno == EINTR);
    return ready > 0 && read(d->interrupt, &count, sizeof(count)) == (ssize_t)sizeof(count);
}

bool vfio_device_set_master(const struct vfio_device *d, bool master)
{
    const off_t at = (off_t)(d->config + PCI_COMMAND);
    uint16_t command;

    if (pread(d->device, &command, sizeof(command), at) != (ssize_t)sizeof(command))
        return false;
    command = le16toh(command);
    command = (uint16_t)(master ? command | PCI_COMMAND_MASTER | PCI_COMMAND_MEMORY
                                : command & ~PCI_COMMAND_MASTER);
    command = htole16(command);
    return pwrite(d->device, &command, sizeof(command), at) == (ssize_t)sizeof(command);
}
